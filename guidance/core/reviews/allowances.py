"""What a person who approves a pause may allow the run beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from typing import Any

from guidance.core.reviews.section import AllowanceRules

# Gates whose pause is about a figure that a person can put a ceiling on, by the setting
# that says how high it may be. Nothing else is allowed beforehand.
_CEILINGS = {"uncertainty": "max_uncertainty", "rework": "max_rework_ratio"}
_STEP = Decimal("0.0001")


class NotOffered(Exception):
    """Why nothing may be allowed beforehand, in words for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceChoice:
    """What one of several approvers would allow."""

    gate: str
    up_to: float
    steps: int
    minutes: int

    def to_json(self) -> dict[str, Any]:
        return {
            "gate": self.gate,
            "up_to": self.up_to,
            "steps": self.steps,
            "minutes": self.minutes,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """`value` of this `gate` was over its `limit`. Up to `highest` it may be allowed.
    `bounded_by` says whose word the bounds are."""

    gate: str
    value: float
    limit: float
    highest: float
    max_steps: int
    max_minutes: int
    bounded_by: str = "the policy permits"

    @property
    def usual(self) -> float:
        """What is allowed where the person says nothing else: what the agent reported,
        in a number that people can read."""
        return min(round_up(self.value), self.highest)


def round_up(value: float) -> float:
    """To four places; what the value allowed is still allowed."""
    return float(Decimal(repr(value)).quantize(_STEP, ROUND_CEILING))


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
    findings: Sequence[Mapping[str, Any]],
    others: Sequence[AllowanceChoice | None] = (),
) -> Offer:
    """Raises NotOffered. `findings` are those of the decision that paused the run; the
    first that paused it is the one in question. `others` is what those would allow who have
    approved before; None lets it go on only once. Nobody allows more than they do."""
    if not rules.max_steps:
        raise NotOffered("the policy asks every time")
    paused = next((each for each in findings if each["decision"] == "pause"), None)
    if kind != "pause" or paused is None:
        raise NotOffered("only a paused run can be allowed something beforehand")
    if severity == "critical":
        raise NotOffered("what is critical is asked about every time")
    gate, value, limit = paused["gate"], paused["value"], paused["limit"]
    ceiling = get_ceiling(rules, gate)
    if ceiling is None or value is None or limit is None:
        raise NotOffered(f"{gate} is asked about every time")
    if ceiling <= limit:
        raise NotOffered("the policy allows nothing over the limit")
    offer = Offer(
        gate=gate,
        value=value,
        limit=limit,
        highest=ceiling,
        max_steps=rules.max_steps,
        max_minutes=rules.max_minutes,
    )
    for choice in others:
        offer = _limit_offer(offer, choice)
    return offer


def _limit_offer(offer: Offer, choice: AllowanceChoice | None) -> Offer:
    if choice is None:
        raise NotOffered("another approver lets it go on only once")
    return replace(
        offer,
        highest=min(offer.highest, choice.up_to),
        max_steps=min(offer.max_steps, choice.steps),
        max_minutes=min(offer.max_minutes, choice.minutes),
        bounded_by="another approver allows",
    )
