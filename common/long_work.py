"""Work that may take long runs beside the event loop, a piece at a time, and first for
whoever has had the least processor time.

More threads would not be faster: Python runs one of them at a time, and each takes turns
from the event loop. Turns by count would favour whoever sends the longest work.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from functools import partial
from threading import Condition, Thread
from time import thread_time
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[[], None]


class Share(NamedTuple):
    """Whose work it is: projects share alike, and so do the agents of each."""

    project: int | None = None
    actor: str = ""


NOBODY = Share()
# Set at the door, as soon as it is known who asks.
share: ContextVar[Share] = ContextVar("share", default=NOBODY)


class Line:
    """The work that waits, and the seconds everybody has had since the line was empty."""

    def __init__(self) -> None:
        self._waiting: dict[Share, deque[Work]] = {}
        self._used: dict[Any, float] = {}

    def add(self, whose: Share, work: Work) -> None:
        if whose not in self._waiting:
            # Nobody saves up time while others work: who comes stands with the first.
            self._raise(whose.project, {other.project for other in self._waiting})
            self._raise(whose, (o for o in self._waiting if o.project == whose.project))
            self._waiting[whose] = deque()
        self._waiting[whose].append(work)

    def take(self) -> tuple[Share, Work] | None:
        if not self._waiting:
            self._used.clear()
            return None
        first = min(self._waiting, key=self._get_used)
        work = self._waiting[first].popleft()
        if not self._waiting[first]:
            del self._waiting[first]
        return first, work

    def add_seconds(self, whose: Share, seconds: float) -> None:
        for party in (whose.project, whose):
            self._used[party] = self._used.get(party, 0.0) + seconds

    def _get_used(self, whose: Share) -> tuple[float, float]:
        return self._used.get(whose.project, 0.0), self._used.get(whose, 0.0)

    def _raise(self, party: Any, others: Iterable[Any]) -> None:
        least = min((self._used.get(other, 0.0) for other in others), default=0.0)
        self._used[party] = max(self._used.get(party, 0.0), least)


class Lane:
    """One thread that works a line off."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._line = Line()
        self._thread: Thread | None = None

    def add(self, whose: Share, work: Work) -> None:
        with self._changed:
            self._line.add(whose, work)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="long-work", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while (taken := self._line.take()) is None:
                    self._changed.wait()
            whose, work = taken
            begun = thread_time()
            work()
            with self._changed:
                self._line.add_seconds(whose, thread_time() - begun)


_lane = Lane()


async def run_long(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that reads no database, beside the event loop. Work that nobody
    waits for any more is not begun."""
    future: Future[T] = Future()
    call = partial(copy_context().run, function, *args, **kwargs)
    _lane.add(share.get(), partial(_perform, future, call))
    return await asyncio.wrap_future(future)


def _perform(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)
