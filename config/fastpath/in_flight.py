"""Costly requests of one agent key are worked on a few at a time; the rest wait in turn.

Otherwise a client with many connections would have all of its requests in front of
everybody else's. Steps are not limited: the writer commits them together, and needs many
at once for that.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any
from weakref import WeakValueDictionary

from accounts.auth import AgentPrincipal, Principal

AT_A_TIME = 3


class InFlight:
    def __init__(self) -> None:
        # By event loop and key; gone as soon as nothing waits or is worked on.
        self._by_key: WeakValueDictionary[tuple[int, int], asyncio.Semaphore] = (
            WeakValueDictionary()
        )

    def wait_for_turn(
        self, principal: Principal | None
    ) -> AbstractAsyncContextManager[Any]:
        """Return what to hold while a costly request is worked on."""
        if not isinstance(principal, AgentPrincipal):
            return nullcontext()
        key = (id(asyncio.get_running_loop()), principal.key_id)
        turns = self._by_key.get(key)
        if turns is None:
            turns = self._by_key[key] = asyncio.Semaphore(AT_A_TIME)
        return turns
