"""What people do in a script: one item for each review, in the order they are opened."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Scripted:
    """A ruling that comes `after` so many seconds of the fake's own time."""

    action: str
    after: float = 0.0
    note: str = ""
    answer: str | None = None
    amended: Mapping[str, Any] | None = None
    by: str = "alice"


def approve(note: str = "", *, after: float = 0.0) -> Scripted:
    return Scripted("approve", after, note)


def deny(note: str = "", *, after: float = 0.0) -> Scripted:
    return Scripted("deny", after, note)


def abort(note: str = "", *, after: float = 0.0) -> Scripted:
    return Scripted("abort", after, note)


def answer(text: str, *, after: float = 0.0, note: str = "") -> Scripted:
    return Scripted("answer", after, note, answer=text)


def amend(*, after: float = 0.0, note: str = "", **parts: Any) -> Scripted:
    """The parts of the call that change: `amend(command="rm -ri build")`."""
    return Scripted("amend", after, note, amended=parts)


def retry(note: str = "", *, after: float = 0.0) -> Scripted:
    return Scripted("retry", after, note)


def skip(note: str, *, after: float = 0.0) -> Scripted:
    return Scripted("skip", after, note)


def expire(*, after: float = 0.0) -> Scripted:
    """Nobody rules in time: the run ends."""
    return Scripted("expire", after)


def nobody() -> Scripted:
    """Nobody ever rules: for tests of `timeout=`."""
    return Scripted("nobody", math.inf)
