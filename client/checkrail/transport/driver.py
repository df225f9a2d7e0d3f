"""Perform the effects of flows in the caller's own thread."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from checkrail.transport.connection import Connection
from checkrail.transport.effects import Acquire, Callback, Effect, Flow, Request, Sleep

if TYPE_CHECKING:
    import httpx

    from checkrail.transport.pools import Pool

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")
U = TypeVar("U")


class Driver:
    """`hold` and `release` count who uses the connections; the last one closes them."""

    def __init__(
        self,
        connection: Connection,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.connection = connection
        self._transport = transport
        self._sleep = sleep
        self._pool: Pool | None = None
        self._users = 0
        self._lock = threading.Lock()

    def get_pool(self) -> Pool:
        # Here and not above: `import checkrail` must not take the time of httpx.
        from checkrail.transport.pools import Pool

        with self._lock:
            if self._pool is None:
                self._pool = Pool(self.connection, self._transport)
            return self._pool

    def lock(self) -> threading.Lock:
        return threading.Lock()

    def drive(self, flow: Flow[T]) -> T:
        try:
            effect = next(flow)
            while True:
                try:
                    outcome = self._perform(effect)
                except BaseException as error:  # noqa: PERF203 (the flow's to handle)
                    effect = flow.throw(error)
                else:
                    effect = flow.send(outcome)
        except StopIteration as done:
            result: T = done.value
            return result

    def _perform(self, effect: Effect) -> object:
        if isinstance(effect, Request):
            return self.get_pool().send(effect)
        if isinstance(effect, Sleep):
            return self._sleep(effect.seconds)
        if isinstance(effect, Acquire):
            return effect.lock.acquire()
        return _call_back(effect)

    def hold(self) -> None:
        with self._lock:
            self._users += 1

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            last = self._users <= 0
        if last:
            self.close()

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def _call_back(effect: Callback) -> object:
    outcome = effect.callback(effect.argument)
    if inspect.iscoroutine(outcome):
        outcome.close()
        raise TypeError(
            f"{effect.callback!r} is asynchronous: use it with AsyncCheckrail."
        )
    return outcome


def make_method(
    flow: Callable[Concatenate[R, P], Flow[T]],
) -> Callable[Concatenate[R, P], T]:
    """Make a flow a method of an object that has a `driver`."""

    @wraps(flow)
    def method(self: R, /, *args: P.args, **more: P.kwargs) -> T:
        driver: Driver = self.driver  # type: ignore[attr-defined]
        return driver.drive(flow(self, *args, **more))

    return method


def make_method_returning(
    made: Callable[[R, T], U], flow: Callable[Concatenate[R, P], Flow[T]]
) -> Callable[Concatenate[R, P], U]:
    """The same, with the outcome turned into an object such as a `Call`."""

    @wraps(flow)
    def method(self: R, /, *args: P.args, **more: P.kwargs) -> U:
        driver: Driver = self.driver  # type: ignore[attr-defined]
        return made(self, driver.drive(flow(self, *args, **more)))

    return method
