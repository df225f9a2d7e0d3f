"""What the API of a person's own tokens takes and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    Field,
    StringConstraints,
)

from accounts.models import PersonalToken, User
from common.fields import Id, Moment
from guidance.time_zones import find_zone
from ledger.chain import format_timestamp
from reviews.administration.people.addresses import check_address
from reviews.schemas.fields import Body, Cleaned


def check_zone(name: str) -> str:
    """Empty, or a zone that this machine knows; ValueError where it is none."""
    if name and find_zone(name) is None:
        raise ValueError("no time zone, such as Europe/Berlin")
    return name


PersonName = Annotated[
    str, StringConstraints(max_length=60, strip_whitespace=True), Cleaned
]
Address = Annotated[
    str, StringConstraints(min_length=3, max_length=254), AfterValidator(check_address)
]
TimeZone = Annotated[str, StringConstraints(max_length=64), AfterValidator(check_zone)]
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


class ProfileIn(Body):
    """Changes of a profile: what is left out stays. Mail goes to `address` once the link
    sent there was opened; an empty one ends mail."""

    name: PersonName | None = None
    address: Address | Literal[""] | None = None
    time_zone: TimeZone | None = None
    language: Literal["en"] | None = None


class ProfileOut(BaseModel):
    """Yourself. Mail goes to `address`; `unconfirmed_address` waits for its link to be
    opened. Without a time zone, mail has times in UTC; `en` is the only language so far."""

    id: Id
    username: str
    name: str
    address: str
    unconfirmed_address: str
    time_zone: str
    language: Literal["en"] = "en"


class StoredProfileOut(ProfileOut):
    """`mailed`: a link went to `unconfirmed_address`."""

    mailed: bool


def serialize_profile(user: User, /, **more: Any) -> dict[str, Any]:
    own = ProfileOut(
        id=str(user.code),
        username=user.username,
        name=user.get_full_name(),
        address=user.email,
        unconfirmed_address=user.new_email,
        time_zone=user.time_zone,
    )
    return {**own.model_dump(), **more}


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
