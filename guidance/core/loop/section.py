"""What a policy says about the loop; a policy that says nothing has these values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from guidance.core.loop.kinds import LoopKind
from guidance.core.loop.learn_section import LearnSection
from guidance.core.loop.rules import LoopRule, Test
from guidance.core.money import format_usd

CAPS: Mapping[str, int] = MappingProxyType(
    {
        "start_loop": 6,
        "process_notes": 12,
        "apply_retro_recommendation": 4,
        "emit_alert": 12,
    }
)
_ANY = Test(at_least=1)
DEFAULT_RULES: tuple[LoopRule, ...] = (
    LoopRule(
        name="agent-failed",
        triggers=("agent/loop.failed",),
        action="emit_alert",
        parameters={
            "condition": "agent-failed/{data.agent}",
            "status": "firing",
            "severity": "high",
            "title": "{data.agent} does not finish its work",
        },
        reason="A run of {data.agent} ended without reaching its goal.",
    ),
    LoopRule(
        name="notes-wait",
        figures={"note_queue_length": _ANY},
        action="process_notes",
        reason="{note_queue_length} notes wait to be worked through.",
    ),
    LoopRule(
        name="recommendations-wait",
        figures={"pending_recommendations": _ANY},
        action="apply_retro_recommendation",
        reason="{pending_recommendations} recommendations wait to become drafts.",
    ),
    LoopRule(
        name="agent-well-again",
        triggers=("agent/loop.complete",),
        action="emit_alert",
        parameters={
            "condition": "agent-failed/{data.agent}",
            "status": "resolved",
            "title": "{data.agent} finishes its work again",
        },
        reason="A run of {data.agent} was completed.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSection:
    """`heartbeat_s` is how often the clock looks, unless somebody did so less than
    `min_gap_s` ago. `dedupe_s` is how long the same trigger on the same state counts as
    the same. `cost_per_day_micros` None is unlimited."""

    heartbeat_s: int = 900
    min_gap_s: int = 600
    decider: str = "rules"
    caps_per_hour: Mapping[str, int] = field(default_factory=lambda: dict(CAPS))
    cost_per_day_micros: int | None = 1_000_000
    cascade_limit: int = 3
    dedupe_s: int = 3_600
    stale_after_s: int = 120
    notes_at_once: int = 20
    note_claim_s: int = 3_600
    run_ends: bool = True
    rulings: bool = True
    kinds: Mapping[str, LoopKind] = field(default_factory=dict)
    rules: tuple[LoopRule, ...] = DEFAULT_RULES
    learn: LearnSection = field(default_factory=LearnSection)

    def to_json(self) -> dict[str, Any]:
        """The section of the policy document that gives this again."""
        cost = self.cost_per_day_micros
        return {
            "heartbeat_s": self.heartbeat_s,
            "min_gap_s": self.min_gap_s,
            "decider": self.decider,
            "caps_per_hour": dict(self.caps_per_hour),
            "cost_per_day_usd": None if cost is None else format_usd(cost),
            "cascade_limit": self.cascade_limit,
            "dedupe_s": self.dedupe_s,
            "stale_after_s": self.stale_after_s,
            "notes_at_once": self.notes_at_once,
            "note_claim_s": self.note_claim_s,
            "signals_from": {"run_ends": self.run_ends, "rulings": self.rulings},
            "kinds": [kind.to_json() for kind in self.kinds.values()],
            "rules": [rule.to_json() for rule in self.rules],
            "learn": self.learn.to_json(),
        }
