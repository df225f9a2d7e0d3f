"""The facts that guardrails compare, and what is recorded when one is met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guidance.core.loop.alerts import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailFacts:
    """The state of the project when a proposal is judged.

    `paused` says by whom and why, `halted` the same of a halt, `trouble` why a model gave no proposal, `cost`
    what asking it took, `priced` whether that can be known. `twin` is the decision on the same trigger and state, `cascade`
    how many decisions have come of the same event. `claimable` is what the action would
    take up: notes, or a recommendation.
    """

    paused: str | None = None
    halted: str | None = None
    asks_model: bool = False
    priced: bool = True
    trouble: str | None = None
    spent_micros: int = 0
    cost_micros: int = 0
    stale: tuple[str, ...] = ()
    used_this_hour: int = 0
    twin: str | None = None
    cascade: int | None = None
    claimable: tuple[str, ...] = ()
    standing: Standing | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "paused": self.paused,
            "halted": self.halted,
            "asks_model": self.asks_model,
            "priced": self.priced,
            "trouble": self.trouble,
            "spent_micros": self.spent_micros,
            "cost_micros": self.cost_micros,
            "stale": list(self.stale),
            "used_this_hour": self.used_this_hour,
            "twin": self.twin,
            "cascade": self.cascade,
            "claimable": list(self.claimable),
            "standing": self.standing.to_json() if self.standing else None,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> GuardrailFacts:
        standing = document["standing"]
        return cls(
            **{
                **document,
                "stale": tuple(document["stale"]),
                "claimable": tuple(document["claimable"]),
                "standing": Standing.from_json(standing) if standing else None,
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardrail:
    """A guardrail that was met: its name, its message, and the figures it compared."""

    rail: str
    outcome: str
    message: str
    value: int | str | None = None
    limit: int | str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "rail": self.rail,
            "message": self.message,
            "value": self.value,
            "limit": self.limit,
        }
