"""A waiting line that serves whoever waits in turn, however many jobs each has sent."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Jobs of one source are taken in their order; the sources take turns.

    So a client that sends a thousand jobs at once waits for its own, and nobody else
    waits for more than one of them.
    """

    def __init__(self) -> None:
        self._sources: OrderedDict[Hashable, deque[T]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, source: Hashable, job: T) -> None:
        self._sources.setdefault(source, deque()).append(job)
        self._size += 1

    def take(self) -> T:
        """The next job; LookupError when there is none."""
        source, jobs = next(iter(self._sources.items()), (None, None))
        if jobs is None:
            raise LookupError("Nobody waits.")
        job = jobs.popleft()
        self._size -= 1
        if jobs:
            self._sources.move_to_end(source)
        else:
            del self._sources[source]
        return job
