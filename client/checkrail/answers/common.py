"""Parts that several answers share."""

from __future__ import annotations

from dataclasses import dataclass

from checkrail.answers.parsing import Answer


@dataclass(frozen=True, kw_only=True)
class PolicyStamp(Answer):
    name: str
    version: int
    hash: str


@dataclass(frozen=True, kw_only=True)
class Receipt(Answer):
    """Keep it: it proves later that this entry stood in the ledger."""

    seq: int
    hash: str


@dataclass(frozen=True, kw_only=True)
class ReviewRef(Answer):
    """A review by its id, and where a person finds it.

    `title` says what is asked, in the words of this client: the server's answers do not
    repeat it.
    """

    id: str
    kind: str
    url: str = ""
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Remaining(Answer):
    """What is left of the budget; None is unlimited."""

    tokens: int | None = None
    tool_calls: int | None = None
    time_ms: int | None = None
    cost_usd: str | None = None
