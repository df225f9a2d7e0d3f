"""What is asked and what comes back: the same for the judge and for any other asker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question without a history.

    `schema` is sent and checked. Servers that enforce it know only a part of JSON Schema:
    objects list all their properties as required and allow no others; lengths, ranges and
    counts are left to the asker. `name` is the schema's, for servers that want one.
    `max_tokens` also pays for what a model thinks before it answers.
    """

    system: str
    user: str
    schema: Mapping[str, Any]
    name: str
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the server counted, or the most it may be where the server told nothing.

    The cost is None where prices are not known.
    """

    tokens_in: int
    tokens_out: int
    cost_micros: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A document that fits the question's schema, from the model that calls itself so."""

    document: dict[str, Any]
    spent: Spent
    model: str
    duration_s: float


class LlmTrouble(Exception):
    """No answer that can be used. `reason` is fit to be shown: short, without secrets.

    `spent` is None only where nothing was asked: no kind of reply is free.
    """

    def __init__(self, reason: str, *, spent: Spent | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.spent = spent
