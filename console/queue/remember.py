"""“Do not ask again”: what may be remembered with an approval, and what was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from common.errors import Invalid
from console.permissions.preview import Coverage, describe_coverage
from guidance.core.arguments import is_allowlisted
from guidance.core.tools.calls import Call, build_call
from guidance.core.tools.permission_shapes import MAY_CHANGE, build_shape_text
from guidance.selectors import get_policy
from reviews.models import Permission, Review, ReviewState, Scope
from reviews.schemas.reviews import RememberIn

HOURS = ((1, "1 hour"), (8, "8 hours"), (24, "24 hours"), (168, "7 days"))
_COVERED = {
    Scope.EXACT.value: "this exact call",
    Scope.SHAPE.value: "calls of this shape",
}
_CONFIRMS = {
    "policy": "The policy asks about every call of this tool.",
    "agent": "The agent asks for a person: that is asked about every time.",
}
USES = ((1, "1 use"), (10, "10 uses"), (50, "50 uses"), (500, "500 uses"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberOffer:
    """`shape` is None where it means nothing else than the exact call."""

    why_not: str = ""
    shape: Coverage | None = None
    hours: tuple[tuple[int, str], ...] = HOURS
    uses: tuple[tuple[int, str], ...] = USES


def build_remember_offer(review: Review, content: Mapping[str, Any]) -> RememberOffer:
    if content["call_kind"] == "multi_edit":
        return RememberOffer(
            why_not="Several edits at once are asked about every time."
        )
    call = build_call(
        kind=content["call_kind"], tool=content["tool"], shown=content["shown"]
    )
    if not content["permittable"]:
        return RememberOffer(why_not=_explain_refusal(review, content))
    return RememberOffer(shape=_build_shape(call))


def parse_remember(form: Mapping[str, str]) -> RememberIn | None:
    """None where the next such call is to be asked about again."""
    scope = form.get("remember", "")
    if not scope:
        return None
    try:
        return RememberIn.model_validate(
            {
                "scope": scope,
                "hours": _parse_number(form.get("hours", "")),
                "uses": _parse_number(form.get("uses", "")),
            }
        )
    except ValidationError:
        raise Invalid(
            "Choose again for how long it is not to be asked about."
        ) from None


def describe_remembered(review: Review) -> str:
    """What is not asked about again since this review was ruled, in a few words."""
    if review.state != ReviewState.RULED:
        return ""
    scope = Permission.objects.filter(review=review).values_list("scope", flat=True)
    return _COVERED.get(scope.first() or "", "")


def _parse_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _explain_refusal(review: Review, content: Mapping[str, Any]) -> str:
    always = get_policy(review.run.policy_id).policy.tools.always_ask
    asked = [f for f in content["findings"] if f["decision"] == "require-confirmation"]
    rules = [str(finding["details"].get("rule", "")) for finding in asked]
    if any(finding["details"].get("uninspectable") for finding in asked):
        return "Part of it cannot be inspected: that is asked about every time."
    for rule in rules:
        if rule and is_allowlisted(rule, always):
            return f"The policy asks about {rule} every time."
    for finding in asked:
        if finding["gate"] == "confirm":
            return _CONFIRMS[finding["details"].get("by", "policy")]
    if not all(rules):
        return "A check could not be made: that is asked about every time."
    return "There is more to it than can be remembered: it is asked about every time."


def _build_shape(call: Call) -> Coverage | None:
    """The call with # for what may change; None where nothing may."""
    shape = build_shape_text(call)
    if shape is None or MAY_CHANGE not in shape:
        return None
    return describe_coverage(shape)
