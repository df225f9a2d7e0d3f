"""A time on a page: when it was for programs, and how long that is for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ledger.figures import ago, iso, words


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    at: str
    words: str


def past(moment: datetime, at: datetime) -> Moment:
    return Moment(at=iso(moment), words=ago((at - moment).total_seconds()))


def past_or_none(moment: datetime | None, at: datetime) -> Moment | None:
    return None if moment is None else past(moment, at)


def ahead(moment: datetime | None, at: datetime) -> Moment | None:
    """None where it is not ahead any more."""
    if moment is None or moment <= at:
        return None
    return Moment(at=iso(moment), words=words((moment - at).total_seconds()))
