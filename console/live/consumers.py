"""The console's sockets. They only carry updates down; every action is an HTTP POST."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer

from accounts.models import User
from console.live.broadcaster import Broadcaster, get_broadcaster
from console.live.updates import View
from ledger.writer.db_threads import run_in_db_thread
from reviews.open_access import (
    NO_PROJECT,
    SIGNED_OUT,
    SessionAccess,
    get_session_access,
)

UNREADABLE = 4400
TOO_MANY = 4429
RESUME_SECONDS = 10.0


class CountedConsumer(AsyncWebsocketConsumer):
    """A socket that is counted from the moment it is there."""

    # The process has one receiver (console.live.broadcaster); a socket of its own on the channel
    # layer would only cost.
    channel_layer_alias = ""
    closed = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        with get_broadcaster().count_socket(
            getattr(scope["user"], "pk", None)
        ) as self.room:
            await super().__call__(scope, receive, send)

    async def accept_or_refuse(self) -> bool:
        """Accepted in any case: a browser takes a refused handshake for a network
        problem and tries again for ever, a close code it understands."""
        await self.accept()
        if not self.room:
            await self.close(TOO_MANY)
        return self.room

    async def close(
        self, code: int | bool | None = None, reason: str | None = None
    ) -> None:
        """Once: who was closed may still have sent something, and a second close is an
        error of the server."""
        if not self.closed:
            self.closed = True
            await super().close(code, reason)


class ConsoleConsumer(CountedConsumer):
    """One page. It says where it stands (`resume`), then hears what came after."""

    access: SessionAccess
    view: View

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.since = 0
        self.sending = False
        self.broadcaster: Broadcaster | None = None

    async def connect(self) -> None:
        if not await self.accept_or_refuse():
            return
        user: Any = self.scope["user"]
        session_key: str | None = self.scope["session"].session_key
        known = isinstance(user, User) and not user.must_change_password
        if not known or session_key is None:
            await self.close(SIGNED_OUT)
            return
        arguments = self.scope["url_route"]["kwargs"]
        slug = arguments["slug"]
        access = await run_in_db_thread(
            partial(get_session_access, user=user, slug=slug, session_key=session_key)
        )
        if access is None:
            await self.close(NO_PROJECT)
            return
        self.access = access
        self.view = View(
            project_id=access.project_id,
            name=arguments["view"],
            run=str(arguments.get("code", "")),
        )
        self.resume_timeout = asyncio.create_task(self._expect_resume())

    async def _expect_resume(self) -> None:
        """A page says where it stands at once; whoever does not is none."""
        await asyncio.sleep(RESUME_SECONDS)
        await self.close(UNREADABLE)

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        if self.closed:
            return
        since = _parse_resume(text_data)
        if since is None or self.broadcaster is not None:
            await self.close(UNREADABLE)
        else:
            self.since = since
            self.resume_timeout.cancel()
            self.broadcaster = get_broadcaster()
            self.broadcaster.join(self)

    async def disconnect(self, code: int) -> None:
        if hasattr(self, "resume_timeout"):
            self.resume_timeout.cancel()
        if self.broadcaster is not None:
            self.broadcaster.leave(self)

    async def push(self, text: str) -> None:
        await self.send(text_data=text)

    async def end(self, code: int) -> None:
        await self.close(code)


class NowhereConsumer(CountedConsumer):
    """Any other address: closed in words a browser understands."""

    async def connect(self) -> None:
        if await self.accept_or_refuse():
            await self.close(NO_PROJECT)


def _parse_resume(text: str | None) -> int | None:
    """The cursor of {"type": "resume", "since": n}; None for anything else."""
    if text is None or len(text) > 200:
        return None
    try:
        message = json.loads(text)
    except ValueError:
        return None
    if not isinstance(message, dict) or message.get("type") != "resume":
        return None
    since = message.get("since")
    return since if type(since) is int and 0 <= since < 2**63 else None
