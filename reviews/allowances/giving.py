"""An allowance is given by the ruling that approves a pause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from common.errors import Invalid
from common.ids import uuid7
from guidance.core.reviews.allowances import (
    AllowanceChoice,
    NotOffered,
    Offer,
    build_offer,
)
from guidance.core.steps.allowances import format_value
from guidance.selectors import get_policy
from ledger.chain import format_timestamp
from ledger.plan import Plan
from reviews.allowances.ending import REPLACED, end_allowance
from reviews.models import Review, ReviewApproval
from reviews.schemas.reviews import AllowanceIn


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAllowance:
    """What a ruling gives; it counts from the moment of the ruling."""

    choice: AllowanceChoice
    value: float
    limit: float

    def give(self, plan: Plan, *, review: str, actor: str, note: str) -> None:
        """The next step is the first that it covers. One for the same gate ends."""
        memory = plan.run.memory
        for before in memory.allowances:
            if before.gate == self.choice.gate:
                end_allowance(plan, before, reason=REPLACED, actor=actor)
        plan.add_entry(
            "allowance.given",
            actor=actor,
            payload={
                "allowance": str(uuid7()),
                "review": review,
                "gate": self.choice.gate,
                "value": self.value,
                "limit": self.limit,
                "up_to": self.choice.up_to,
                "steps": self.choice.steps,
                "last_step": memory.last_step + self.choice.steps,
                "ends_at": format_timestamp(
                    plan.at + timedelta(minutes=self.choice.minutes)
                ),
                "by": actor,
                "note": note,
            },
        )


def find_offer(review: Review, content: Mapping[str, Any] | None = None) -> Offer:
    """What may be allowed to the run of this review; raises NotOffered. `content` is the
    review's, if it was read already."""
    if content is None:
        content = json.loads(review.content)
    try:
        findings = content["decision"]["findings"] if review.kind == "pause" else ()
        return build_offer(
            get_policy(review.run.policy_id).policy.reviews.allowances,
            kind=review.kind,
            severity=review.severity,
            findings=findings,
            others=list_choices(review),
        )
    except (KeyError, TypeError):
        raise NotOffered("the review says too little of its signal") from None


def build_allowance(
    review: Review, *, action: str, asked: AllowanceIn | None
) -> NewAllowance | None:
    """The allowance in this ruling; None if it gives none."""
    if asked is None:
        return None
    if action != "approve":
        raise _build_refusal("only with approve")
    try:
        offer = find_offer(review)
    except NotOffered as refusal:
        raise _build_refusal(str(refusal)) from None
    if asked.steps is None and asked.minutes is None:
        raise _build_refusal("say for how many steps or minutes")
    return NewAllowance(
        value=offer.value,
        limit=offer.limit,
        choice=AllowanceChoice(
            gate=offer.gate,
            up_to=_read_up_to(offer, asked.up_to),
            steps=_read_bounded(offer, "steps", asked.steps, offer.max_steps),
            minutes=_read_bounded(offer, "minutes", asked.minutes, offer.max_minutes),
        ),
    )


def list_choices(review: Review) -> list[AllowanceChoice | None]:
    """What those would allow who have approved this review before; one query where it
    takes several people."""
    if review.approvals_needed == 1:
        return []
    stored = ReviewApproval.objects.filter(review=review.pk).order_by("version")
    return [read_choice(text) for text in stored.values_list("allowance", flat=True)]


def read_choice(text: str | None) -> AllowanceChoice | None:
    """As an approval has it; None for one that lets the run go on only once."""
    return None if text is None else AllowanceChoice(**json.loads(text))


def _read_bounded(offer: Offer, name: str, asked: int | None, most: int) -> int:
    """What is left out is as much as may be."""
    if asked is not None and asked > most:
        raise _build_refusal(f"{offer.bounded_by} at most {most:,}", name)
    return most if asked is None else asked


def _read_up_to(offer: Offer, asked: float | None) -> float:
    if asked is None:
        return offer.usual
    if asked > offer.highest:
        highest = format_value(offer.gate, offer.highest)
        raise _build_refusal(f"{offer.bounded_by} at most {highest}", "up_to")
    if asked <= offer.limit:
        limit = format_value(offer.gate, offer.limit)
        raise _build_refusal(f"up to {limit} nothing is asked anyway", "up_to")
    return asked


def _build_refusal(message: str, *place: str) -> Invalid:
    loc = ["allowance", *place]
    return Invalid(
        f"{'.'.join(loc)}: {message}.", errors=[{"loc": loc, "message": message}]
    )
