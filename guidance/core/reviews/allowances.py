"""What a person who approves a pause may allow the run beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guidance.core.reviews.section import AllowanceRules

# Gates whose pause is about a figure that a person can put a ceiling on, by the setting
# that says how high it may be. Nothing else is allowed beforehand.
_CEILINGS = {"uncertainty": "max_uncertainty", "rework": "max_rework_ratio"}


class NotOffered(Exception):
    """Why nothing may be allowed beforehand, in words for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """`value` of this `gate` was over its `limit`. Up to `highest` it may be allowed."""

    gate: str
    value: float
    limit: float
    highest: float
    max_steps: int
    max_minutes: int

    @property
    def usual(self) -> float:
        """What is allowed where the person says nothing else: what the agent reported."""
        return min(self.value, self.highest)


def get_ceiling(rules: AllowanceRules, gate: str) -> float | None:
    """The highest value of this gate that may be allowed; None where none may."""
    if not rules.max_steps or gate not in _CEILINGS:
        return None
    ceiling: float = getattr(rules, _CEILINGS[gate])
    return ceiling


def build_offer(
    rules: AllowanceRules,
    *,
    kind: str,
    severity: str,
    approvals_needed: int,
    findings: Sequence[Mapping[str, Any]],
) -> Offer:
    """Raises NotOffered. `findings` are those of the decision that paused the run; the
    first that paused it is the one in question."""
    if not rules.max_steps:
        raise NotOffered("the policy asks every time")
    paused = next((each for each in findings if each["decision"] == "pause"), None)
    if kind != "pause" or paused is None:
        raise NotOffered("only a paused run can be allowed something beforehand")
    if severity == "critical":
        raise NotOffered("what is critical is asked about every time")
    if approvals_needed > 1:
        raise NotOffered("what takes several people is asked about every time")
    gate, value, limit = paused["gate"], paused["value"], paused["limit"]
    ceiling = get_ceiling(rules, gate)
    if ceiling is None or value is None or limit is None:
        raise NotOffered(f"{gate} is asked about every time")
    if ceiling <= limit:
        raise NotOffered("the policy allows nothing over the limit")
    return Offer(
        gate=gate,
        value=value,
        limit=limit,
        highest=ceiling,
        max_steps=rules.max_steps,
        max_minutes=rules.max_minutes,
    )
