"""Approvals of a review that takes several people: who has given one, and who may.

What counts is decided by `guidance.core.reviews.four_eyes`, under the project's lock, on
what the run itself knows of its open reviews. The rows are what people are shown.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from accounts.models import Agent
from guidance.core.reviews.four_eyes import APPROVING, NotCounted, count_approvals
from ledger.chain import format_timestamp
from ledger.state import OpenReview
from reviews.errors import FourEyes
from reviews.models import Review, ReviewApproval, ReviewState
from reviews.rulings.gate_choices import list_choices


def find_owner(agent_id: int) -> str | None:
    """Who owns this agent, as the ledger names people."""
    owners = Agent.objects.filter(pk=agent_id, owner__isnull=False)
    for code in owners.values_list("owner__code", flat=True):
        return f"user:{code}"
    return None


def count_with(review: OpenReview, *, action: str, by: str, owner: str | None) -> int:
    """How many approvals there are with this one; refuses one that may not count."""
    try:
        return count_approvals(
            action=action,
            by=by,
            approved_by=review.approved_by,
            amended_by=review.amended_by,
            owner=owner,
        )
    except NotCounted as refusal:
        raise FourEyes(f"{refusal} Somebody else has to.") from None


def list_approval_notes(review: Review) -> list[tuple[str, str]]:
    """Who wrote what with an approval or a change so far, the oldest first."""
    rows = ReviewApproval.objects.filter(review=review.pk).exclude(note="")
    return list(rows.order_by("version").values_list("by__username", "note"))


def find_amendment(review: Review) -> ReviewApproval | None:
    """What is to run instead of what was asked, if somebody has changed it."""
    if review.approvals_needed == 1:
        return None
    changed = ReviewApproval.objects.filter(review=review.pk, action="amend")
    return changed.order_by("-version").first()


@dataclass(frozen=True, kw_only=True)
class Approvals:
    """As people are shown them: `rows` are all of them, oldest first."""

    review: Review
    rows: tuple[ReviewApproval, ...]
    owner: str | None

    @cached_property
    def amendment(self) -> ReviewApproval | None:
        changed = [row for row in self.rows if row.action == "amend"]
        return changed[-1] if changed else None

    @cached_property
    def counted(self) -> tuple[ReviewApproval, ...]:
        """Those of what is to run now."""
        since = self.amendment.version if self.amendment else 0
        return tuple(row for row in self.rows if row.version > since)

    def find_refusal(self, by: str, *, action: str = "approve") -> str:
        """Why an approval of this person would not count; empty where it would."""
        try:
            count_approvals(
                action=action,
                by=by,
                approved_by=[f"user:{row.by.code}" for row in self.counted],
                amended_by=[
                    f"user:{row.by.code}" for row in self.rows if row.action == "amend"
                ],
                owner=self.owner,
            )
        except NotCounted as refusal:
            return str(refusal)
        return ""


def load_approvals(review: Review) -> Approvals | None:
    """None for a review that one person decides. Two more queries otherwise."""
    if review.approvals_needed == 1:
        return None
    rows = review.approvals.select_related("by").order_by("version")
    return Approvals(
        review=review, rows=tuple(rows), owner=find_owner(review.run.agent_id)
    )


def list_open_rulings(
    review: Review, approvals: Approvals | None, *, by: str
) -> tuple[str, ...]:
    """What this person may choose now."""
    if review.state != ReviewState.OPEN:
        return ()
    choices = list_choices(review)
    if approvals is None:
        return choices
    return tuple(
        action
        for action in choices
        if action not in APPROVING or not approvals.find_refusal(by, action=action)
    )


def build_approvals_answer(approvals: Approvals | None) -> dict[str, Any]:
    """Who has approved what, beside the rest of a review."""
    changed = approvals and approvals.amendment
    return {
        "approved_by": [
            {
                "by": row.by.username,
                "at": format_timestamp(row.at),
                "action": row.action,
                "note": row.note,
                "allowance": json.loads(row.allowance) if row.allowance else None,
            }
            for row in (approvals.counted if approvals else ())
        ],
        "amended": json.loads(changed.amended) if changed and changed.amended else None,
        "amended_findings": json.loads(changed.findings) if changed else [],
    }
