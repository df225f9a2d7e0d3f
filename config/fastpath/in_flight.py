"""Costly requests of one agent key are worked on a few at a time; the rest wait in turn.

A client with many connections would else have all of its requests in front of everybody
else's. Steps are free: the writer commits them together, and needs many at once for that.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any
from weakref import WeakValueDictionary

from accounts.auth import AgentPrincipal, Principal
from config.fastpath.asgi import Scope

AT_A_TIME = 3
# A new run, or a call to be judged: each keeps the process busy for several milliseconds.
_COSTLY = re.compile(r"^/api/v1/runs(/[^/]+/tool-calls)?$")


class InFlight:
    def __init__(self) -> None:
        # By event loop and key; gone as soon as nobody waits or is worked on.
        self._by_key: WeakValueDictionary[tuple[int, int], asyncio.Semaphore] = (
            WeakValueDictionary()
        )

    def wait_for_turn(
        self, scope: Scope, principal: Principal | None
    ) -> AbstractAsyncContextManager[Any]:
        """To be held while the request is worked on."""
        if (
            not isinstance(principal, AgentPrincipal)
            or scope["method"] != "POST"
            or not _COSTLY.match(scope["path"])
        ):
            return nullcontext()
        key = (id(asyncio.get_running_loop()), principal.key_id)
        turns = self._by_key.get(key)
        if turns is None:
            turns = self._by_key[key] = asyncio.Semaphore(AT_A_TIME)
        return turns
