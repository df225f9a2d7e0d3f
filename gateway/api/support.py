"""What agent operations share: the idempotency key, the session, streamed answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from django.http import HttpRequest

from accounts.api_auth import get_agent, get_parsed_request, get_principal
from accounts.auth import PersonPrincipal
from accounts.models import User
from gateway.streams.events import Session
from ledger.idempotency import Idempotency, build_idempotency


def get_idempotency(request: HttpRequest) -> Idempotency | None:
    """The caller's Idempotency-Key, bound to this very request."""
    return build_idempotency(
        key=request.headers.get("Idempotency-Key"),
        agent_id=get_agent(request).agent_id,
        method=request.method or "",
        path=request.path,
        body=get_parsed_request(request).raw,
    )


def get_browser_session(request: HttpRequest) -> Session | None:
    """The session of a person who came without a token."""
    principal, user = get_principal(request), request.user
    if not isinstance(principal, PersonPrincipal) or principal.token_id is not None:
        return None
    assert isinstance(user, User)  # the session is what told us who they are
    return Session(
        user_id=user.pk,
        key=request.session.session_key or "",
        auth_hash=user.get_session_auth_hash(),
    )


class Pieces:
    """The pieces of a streaming response, closed together with it.

    Django would leave that to the garbage collector.
    """

    def __init__(self, made: AsyncGenerator[str]) -> None:
        self._made = made
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        self._loop = asyncio.get_running_loop()
        async for piece in self._made:
            yield piece

    def close(self) -> None:
        """Called on a thread of its own."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._made.aclose(), self._loop).result()
