"""“Let it go on for 20 steps”: what may be allowed with an approval, and what was chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import ValidationError

from common.errors import Invalid
from console.format import format_seconds
from guidance.core.reviews.allowances import NotOffered
from reviews.allowances.giving import find_offer
from reviews.models import Review
from reviews.schemas.reviews import AllowanceIn

STEPS, MINUTES = 20, 30
# A share is typed as people read it.
_PERCENT = {"rework": 100}


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceOffer:
    """`up_to` is what the field begins with: what the agent reported."""

    signal: str
    unit: str
    up_to: str
    highest: str
    steps: int
    minutes: int
    max_steps: int
    max_minutes: int
    latest: str


def build_allowance_offer(
    review: Review, content: Mapping[str, Any]
) -> AllowanceOffer | None:
    """None where every pause is asked about."""
    try:
        offer = find_offer(review, content)
    except NotOffered:
        return None
    scale = _PERCENT.get(offer.gate, 1)
    return AllowanceOffer(
        signal=offer.gate,
        unit="%" if scale == 100 else "",
        up_to=_format_ceiling(offer.usual, offer.highest, scale),
        highest=_format_ceiling(offer.highest, offer.highest, scale),
        steps=min(STEPS, offer.max_steps),
        minutes=min(MINUTES, offer.max_minutes),
        max_steps=offer.max_steps,
        max_minutes=offer.max_minutes,
        latest=format_seconds(offer.max_minutes * 60),
    )


def parse_allowance(
    review: Review, content: Mapping[str, Any], typed: Mapping[str, str]
) -> AllowanceIn | None:
    """None where the run is to go on this once."""
    choice = typed.get("allow", "")
    if not choice:
        return None
    try:
        gate = find_offer(review, content).gate
    except NotOffered as refusal:
        raise Invalid(f"Approve it this once: {refusal}.") from None
    if choice not in ("steps", "minutes"):
        raise Invalid("Choose again for how long it may go on.")
    count = _parse_count(typed.get(f"allow_{choice}", ""), choice)
    up_to = _parse_ceiling(typed.get("allow_up_to", ""), _PERCENT.get(gate, 1))
    try:
        return AllowanceIn.model_validate({choice: count, "up_to": up_to})
    except ValidationError:
        raise Invalid(f"So many {choice} cannot be allowed.") from None


def _format_ceiling(value: float, highest: float, scale: int) -> str:
    """Rounded up, so that what was reported is allowed; never above the highest."""
    places = 2 if scale == 1 else 0
    shown = Decimal(repr(value)) * scale
    step = Decimal(1).scaleb(-places)
    rounded = Decimal(math.ceil(shown / step)) * step
    most = Decimal(repr(highest)) * scale
    return f"{min(rounded, most).normalize():f}" if rounded > most else f"{rounded:f}"


def _parse_count(text: str, what: str) -> int:
    typed = text.strip()
    if not (typed.isascii() and typed.isdigit() and len(typed) < 6):
        raise Invalid(f"Say for how many {what}, as a number.")
    return int(typed)


def _parse_ceiling(text: str, scale: int) -> float | None:
    """Left empty, it is what the agent reported."""
    typed = text.strip().removesuffix("%").strip().replace(",", ".")
    if not typed:
        return None
    try:
        value = Decimal(typed)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value <= scale:
        raise Invalid(f"Up to which value? A number from 0 to {scale}.")
    return float(value / scale)
