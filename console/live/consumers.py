"""The console's sockets. They carry updates down, and up only what a page shows; every
action is an HTTP POST."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer

from accounts.models import User
from accounts.people.browsers import describe_browser
from accounts.people.sign_ins import update_sign_in
from common.ids import parse_code
from console.live.broadcaster import Broadcaster, get_broadcaster
from console.live.presence import Reading, get_presence
from console.live.updates import View
from console.people import build_person
from ledger.writer.db_threads import run_in_db_thread
from reviews.open_access import (
    NO_PROJECT,
    SIGNED_OUT,
    SessionAccess,
    get_session_access,
)
from reviews.rulings.reading_proof import store_shown
from reviews.teamwork.comments import store_seen_mentions

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
    """One page. It says where it stands (`resume`), then hears what came after; a page of the
    queue also says which review it shows (`reading`)."""

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
        access = await run_in_db_thread(
            partial(
                get_session_access,
                user=user,
                slug=arguments["slug"],
                session_key=session_key,
                run=arguments.get("code"),
            )
        )
        if access is None:
            await self.close(NO_PROJECT)
            return
        self.access = access
        await run_in_db_thread(partial(_update_sign_in, self.scope))
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
        if self.broadcaster is not None:
            await self._receive_reading(text_data)
            return
        since = _parse_resume(text_data)
        if since is None:
            await self.close(UNREADABLE)
        else:
            self.since = since
            self.resume_timeout.cancel()
            self.broadcaster = get_broadcaster()
            self.broadcaster.join(self)

    async def _receive_reading(self, text: str | None) -> None:
        """What the page shows now: the code of a review, or nothing."""
        known, review = _parse_reading(text)
        if not known:
            await self.close(UNREADABLE)
        elif self.view.name == "queue":
            user: Any = self.scope["user"]
            reading = Reading(str(review), user.pk, build_person(user))
            get_presence().read(self, reading if review else None)
            if review is not None:
                shown = partial(
                    _store_shown, self.view.project_id, review=review, user_id=user.pk
                )
                await run_in_db_thread(shown)

    async def disconnect(self, code: int) -> None:
        get_presence().leave(self)
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


def _update_sign_in(scope: Any) -> None:
    """Every page opens a socket: by it we know when somebody was last seen."""
    agent = dict(scope["headers"]).get(b"user-agent", b"").decode("latin-1")
    address, *_ = scope.get("client") or ("",)
    update_sign_in(
        user_id=scope["user"].pk,
        session_key=scope["session"].session_key,
        browser=describe_browser(agent),
        address=address,
    )


def _store_shown(project_id: int, *, review: UUID, user_id: int) -> None:
    store_shown(project_id=project_id, code=review, user_id=user_id)
    store_seen_mentions(user_id=user_id, review=review)


def _parse_reading(text: str | None) -> tuple[bool, UUID | None]:
    """Whether it is {"type": "reading", "review": code or null}, and the code."""
    message = _parse_message(text, "reading")
    if message is None:
        return False, None
    review = message.get("review")
    code = parse_code(review) if isinstance(review, str) else None
    return review is None or code is not None, code


def _parse_resume(text: str | None) -> int | None:
    """The cursor of {"type": "resume", "since": n}; None for anything else."""
    message = _parse_message(text, "resume")
    since = None if message is None else message.get("since")
    return since if type(since) is int and 0 <= since < 2**63 else None


def _parse_message(text: str | None, kind: str) -> dict[str, Any] | None:
    if text is None or len(text) > 200:
        return None
    try:
        message = json.loads(text)
    except ValueError:
        return None
    known = isinstance(message, dict) and message.get("type") == kind
    return message if known else None
