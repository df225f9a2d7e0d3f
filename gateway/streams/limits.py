"""How many event streams one caller and one run may have in this process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable

from django.conf import settings

from accounts.auth import AgentPrincipal
from common.errors import RateLimited
from reviews.open_access import Access, SessionAccess

RETRY_SECONDS = 5


class StreamSlot:
    """One stream's place. It is free again when it is released, or forgotten."""

    def __init__(self, *names: Hashable) -> None:
        self._names: tuple[Hashable, ...] = names

    def release(self) -> None:
        names, self._names = self._names, ()
        with _lock:
            _taken.subtract(names)
            for name in names:
                if _taken[name] <= 0:
                    del _taken[name]

    __del__ = release


_taken: Counter[Hashable] = Counter()
# Places are taken on threads and on event loops; one may be forgotten while the lock is
# held by the very thread that collects it.
_lock = threading.RLock()


def take_slot(reader: Access, run_id: int) -> StreamSlot:
    """Refuses the stream that would be one too many."""
    caller, run = _get_caller(reader), ("run", run_id)
    limits = (
        (caller, settings.STREAMS_PER_KEY, "This key has"),
        (run, settings.STREAMS_PER_RUN, "This run has"),
    )
    with _lock:
        for name, limit, words in limits:
            if _taken[name] >= limit:
                raise RateLimited(
                    f"{words} {limit:,} event streams already. Close one, or wait.",
                    retry_after=RETRY_SECONDS,
                )
        _taken.update((caller, run))
    return StreamSlot(caller, run)


def _get_caller(reader: Access) -> Hashable:
    """An agent's key; of a person, all that they come with."""
    if isinstance(reader, SessionAccess):
        return "person", reader.user_id
    if isinstance(reader.principal, AgentPrincipal):
        return "key", reader.principal.key_id
    return "person", reader.principal.user_id
