"""A person's tokens and sign-ins as their page shows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.models import PersonalToken, SignIn
from console.format import (
    ShownMoment,
    build_future_moment,
    build_past_moment,
    build_past_moment_or_none,
)
from safetext import make_visible_line

SOON = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """`soon`: it ends within a week."""

    code: str
    name: str
    prefix: str
    made: ShownMoment
    used: ShownMoment | None
    left: ShownMoment | None
    soon: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInRow:
    code: str
    browser: str
    address: str
    here: bool
    since: ShownMoment
    seen: ShownMoment


def build_token_rows(
    tokens: Iterable[PersonalToken], *, at: datetime
) -> list[TokenRow]:
    return [
        TokenRow(
            code=str(token.code),
            name=make_visible_line(token.name) or "without a name",
            prefix=token.lookup,
            made=build_past_moment(token.created_at, at),
            used=build_past_moment_or_none(token.last_used_at, at),
            left=build_future_moment(token.expires_at, at),
            soon=token.expires_at is not None and token.expires_at - at < SOON,
        )
        for token in tokens
    ]


def build_sign_in_rows(
    sign_ins: Iterable[SignIn], *, session_key: str | None, at: datetime
) -> list[SignInRow]:
    return [
        SignInRow(
            code=str(sign_in.code),
            browser=make_visible_line(sign_in.browser),
            address=make_visible_line(sign_in.address),
            here=sign_in.session_key == session_key,
            since=build_past_moment(sign_in.created_at, at),
            seen=build_past_moment(sign_in.last_seen_at, at),
        )
        for sign_in in sign_ins
    ]
