"""Perform the effects of flows on an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate

from checkrail.transport.connection import Connection
from checkrail.transport.driver import P, R, T, U
from checkrail.transport.effects import Acquire, Effect, Flow, Request, Sleep

if TYPE_CHECKING:
    import httpx

    from checkrail.transport.pools import AsyncPool


class AsyncDriver:
    """As `Driver`, but nothing blocks."""

    def __init__(
        self,
        connection: Connection,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.connection = connection
        self._transport = transport
        self._sleep = sleep
        self._pool: AsyncPool | None = None
        self._users = 0
        # Where it was last used: other threads have their flows driven there.
        self.loop: asyncio.AbstractEventLoop | None = None

    def get_pool(self) -> AsyncPool:
        # Here and not above: `import checkrail` must not take the time of httpx.
        from checkrail.transport.pools import AsyncPool

        if self._pool is None:
            self._pool = AsyncPool(self.connection, self._transport)
        return self._pool

    def lock(self) -> asyncio.Lock:
        return asyncio.Lock()

    async def drive(self, flow: Flow[T]) -> T:
        self.loop = asyncio.get_running_loop()
        try:
            effect = next(flow)
            while True:
                try:
                    outcome = await self._perform(effect)
                except BaseException as error:  # noqa: PERF203 (the flow's to handle)
                    effect = flow.throw(error)
                else:
                    effect = flow.send(outcome)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _perform(self, effect: Effect) -> object:
        if isinstance(effect, Request):
            return await self.get_pool().send(effect)
        if isinstance(effect, Sleep):
            return await self._sleep(effect.seconds)
        if isinstance(effect, Acquire):
            return await effect.lock.acquire()
        outcome = effect.callback(effect.argument)
        return await outcome if inspect.isawaitable(outcome) else outcome

    def hold(self) -> None:
        self._users += 1

    async def release(self) -> None:
        self._users -= 1
        if self._users <= 0:
            await self.close()

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()


def make_async_method(
    flow: Callable[Concatenate[R, P], Flow[T]],
) -> Callable[Concatenate[R, P], Coroutine[Any, Any, T]]:
    """Make a flow a coroutine method of an object that has a `driver`."""

    @wraps(flow)
    async def method(self: R, /, *args: P.args, **more: P.kwargs) -> T:
        driver: AsyncDriver = self.driver  # type: ignore[attr-defined]
        return await driver.drive(flow(self, *args, **more))

    return method


def make_async_method_returning(
    made: Callable[[R, T], U], flow: Callable[Concatenate[R, P], Flow[T]]
) -> Callable[Concatenate[R, P], Coroutine[Any, Any, U]]:
    """The same, with the outcome turned into an object such as an `AsyncCall`."""

    @wraps(flow)
    async def method(self: R, /, *args: P.args, **more: P.kwargs) -> U:
        driver: AsyncDriver = self.driver  # type: ignore[attr-defined]
        return made(self, await driver.drive(flow(self, *args, **more)))

    return method
