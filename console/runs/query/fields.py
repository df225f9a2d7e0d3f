"""What can be asked for by name, and how each value is read."""

from __future__ import annotations

import re
from decimal import Decimal
from uuid import UUID

from common.ids import parse_code
from console.query.moments import ALLOWED, parse_time
from console.query.terms import Field, read_label, read_text
from guidance.core.vocabulary import INTENTS

OPEN = ("running", "paused")
ENDS = ("completed", "failed", "aborted", "abandoned")
# Each word for a status, and the statuses that it takes in.
STATUSES: dict[str, tuple[str, ...]] = {
    "active": OPEN,
    "final": ENDS,
    **{name: (name,) for name in ("running", "paused", "stopped", *ENDS)},
}
ACCEPTED = {"yes": True, "no": False, "unknown": None}
NUMBER_LIMIT = 2**63 - 1
_NUMBER = re.compile(r"\$?([0-9]{1,15}(?:\.[0-9]{1,6})?)([kKmM]?)")
_SPAN = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)?")
_SPANS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_FACTORS = {"": 1, "k": 1000, "m": 1_000_000}


def read_status(text: str) -> tuple[str, ...] | None:
    return STATUSES.get(text.lower())


def read_accepted(text: str) -> str | None:
    return text.lower() if text.lower() in ACCEPTED else None


def read_intent(text: str) -> str | None:
    return text if text in INTENTS else None


def read_policy(text: str) -> tuple[str, int | None] | None:
    name, at, version = text.partition("@")
    if not at:
        return (name, None) if name else None
    known = version.isascii() and version.isdigit() and len(version) < 10
    return (name, int(version)) if name and known else None


def read_parent(text: str) -> UUID | None:
    return parse_code(text.lower())


def read_depth(text: str) -> int | None:
    known = text.isascii() and text.isdigit() and len(text) < 4
    return int(text) if known else None


def read_money(text: str) -> int | None:
    """Micro-dollars."""
    return _read_number(text, scale=1_000_000)


def read_count(text: str) -> int | None:
    return None if text.startswith("$") else _read_number(text, scale=1)


def _read_number(text: str, *, scale: int) -> int | None:
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    number = Decimal(found[1]) * _FACTORS[found[2].lower()] * scale
    whole = int(number)
    return whole if whole == number and whole <= NUMBER_LIMIT else None


def read_span(text: str) -> int | None:
    """Milliseconds; a bare number is minutes."""
    found = _SPAN.fullmatch(text)
    return None if found is None else int(found[1]) * _SPANS[found[2] or "m"]


def write_money(text: str) -> str:
    return f"${text.removeprefix('$')}"


def write_short_code(text: str) -> str:
    return f"r-{text[-6:]}"


FIELDS: dict[str, Field] = {
    "agent": Field(
        label="Agent", read=read_text, allowed="an agent's name", example="agent:robo"
    ),
    "status": Field(
        label="Status",
        read=read_status,
        allowed=", ".join(STATUSES),
        example="status:failed,stopped",
    ),
    "label": Field(
        label="Label",
        read=read_label,
        allowed="name=value, or a name",
        example="label:repo=shop",
    ),
    "model": Field(
        label="Model", read=read_text, allowed="a model's name", example="model:large"
    ),
    "intent": Field(
        label="Intent",
        read=read_intent,
        allowed=", ".join(INTENTS),
        example="intent:bug-fix",
    ),
    "policy": Field(
        label="Policy",
        read=read_policy,
        allowed="a policy's name, or name@version",
        example="policy:default@3",
    ),
    "cost": Field(
        label="Cost",
        read=read_money,
        allowed="dollars such as 5 or 0.25",
        example="cost>5",
        compares=True,
        write=write_money,
    ),
    "tokens": Field(
        label="Tokens",
        read=read_count,
        allowed="a number such as 100k or 1.5m",
        example="tokens>100k",
        compares=True,
    ),
    "steps": Field(
        label="Steps",
        read=read_count,
        allowed="a number such as 50",
        example="steps>=50",
        compares=True,
    ),
    "time": Field(
        label="Time",
        read=read_span,
        allowed="a time such as 90s, 30m or 2h",
        example="time>30m",
        compares=True,
    ),
    "since": Field(
        label="Started since",
        read=parse_time,
        allowed=ALLOWED,
        example="since:7d",
        once=True,
        recent="Started",
    ),
    "until": Field(
        label="Started until",
        read=parse_time,
        allowed=ALLOWED,
        example="until:yesterday",
        once=True,
        recent="Started",
    ),
    "accepted": Field(
        label="Accepted",
        read=read_accepted,
        allowed=", ".join(ACCEPTED),
        example="accepted:no",
    ),
    "parent": Field(
        label="Started by",
        read=read_parent,
        allowed="the whole id of a run",
        example="parent:01900000-0000-7000-8000-000000000000",
        write=write_short_code,
    ),
    "depth": Field(
        label="Depth",
        read=read_depth,
        allowed="how many runs stand above, such as 0",
        example="depth:0",
    ),
}
