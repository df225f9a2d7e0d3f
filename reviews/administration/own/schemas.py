"""What the API of a person's own tokens takes and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from accounts.models import PersonalToken
from common.fields import Id, Moment
from ledger.chain import format_timestamp
from reviews.schemas.fields import Body, Cleaned

TokenName = Annotated[str, StringConstraints(min_length=1, max_length=60), Cleaned]


class TokenIn(Body):
    """Without `expires_at` it works until it is ended."""

    name: TokenName
    expires_at: Annotated[AwareDatetime, Field(strict=False)] | None = None


class TokenOut(BaseModel):
    """A token by its name and first characters: the rest is kept nowhere."""

    id: Id
    name: str
    prefix: str
    created_at: Moment
    last_used_at: Moment | None
    expires_at: Moment | None


class NewTokenOut(TokenOut):
    """`token` is shown only here."""

    token: str


class TokenPage(BaseModel):
    """The tokens in force, newest first; a person has at most 50."""

    items: list[TokenOut]


def serialize_token(token: PersonalToken, /, **more: Any) -> dict[str, Any]:
    return {
        "id": str(token.code),
        "name": token.name,
        "prefix": token.lookup,
        "created_at": format_timestamp(token.created_at),
        "last_used_at": _format(token.last_used_at),
        "expires_at": _format(token.expires_at),
        **more,
    }


def _format(at: datetime | None) -> str | None:
    return format_timestamp(at) if at else None
