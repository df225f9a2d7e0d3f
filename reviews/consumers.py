"""The console's sockets. They only carry news down; every action is an HTTP POST."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer

from accounts.models import User
from ledger.reading import read
from reviews.access import NO_PROJECT, SIGNED_OUT, Guest, guest_for
from reviews.live import Broadcaster, here
from reviews.news import View

UNREADABLE = 4400
TOO_MANY = 4429


class ConsoleConsumer(AsyncWebsocketConsumer):
    """One page. It says where it stands (`resume`), then hears what came after."""

    # The process has one receiver (reviews.live); a socket of its own on the channel
    # layer would only cost.
    channel_layer_alias = ""
    guest: Guest
    view: View

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.since = 0
        self.sending = False
        self.broadcaster: Broadcaster | None = None

    async def connect(self) -> None:
        # Accepted first: a browser takes a refused handshake for a network problem
        # and tries again for ever, a close code it understands.
        await self.accept()
        user: Any = self.scope["user"]
        session_key: str | None = self.scope["session"].session_key
        known = isinstance(user, User) and not user.must_change_password
        if not known or session_key is None:
            await self.close(SIGNED_OUT)
            return
        arguments = self.scope["url_route"]["kwargs"]
        slug = arguments["slug"]
        guest = await read(
            partial(guest_for, user=user, slug=slug, session_key=session_key)
        )
        if guest is None:
            await self.close(NO_PROJECT)
            return
        self.guest = guest
        self.view = View(
            project_id=guest.project_id,
            name=arguments["view"],
            run=str(arguments.get("code", "")),
        )

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        since = _resume(text_data)
        if since is None or self.broadcaster is not None:
            await self.close(UNREADABLE)
        elif hasattr(self, "guest"):
            self.since = since
            broadcaster = here()
            if broadcaster.join(self):
                self.broadcaster = broadcaster
            else:
                await self.close(TOO_MANY)

    async def disconnect(self, code: int) -> None:
        if self.broadcaster is not None:
            self.broadcaster.leave(self)

    async def push(self, text: str) -> None:
        await self.send(text_data=text)

    async def end(self, code: int) -> None:
        await self.close(code)


class NowhereConsumer(AsyncWebsocketConsumer):
    """Any other address: closed in words a browser understands."""

    channel_layer_alias = ""

    async def connect(self) -> None:
        await self.accept()
        await self.close(NO_PROJECT)


def _resume(text: str | None) -> int | None:
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
