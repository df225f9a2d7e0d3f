"""What one decision on a selection would do, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from console.format import format_count
from console.people import build_person
from console.queue.kinds import get_kind
from reviews.bulk.services import list_bulk_actions
from reviews.models import Review, Severity
from safetext import make_visible_line

VERBS = {
    "approve": ("Approve", "approved"),
    "deny": ("Deny", "denied"),
    "abort": ("Abort the runs of", "aborted"),
    "retry": ("Retry", "sent back for a retry"),
    "skip": ("Skip the gates of", "skipped"),
}
_EFFECTS = {
    "approve": "Each may go on, exactly as it is listed here, once.",
    "deny": "Each is refused, and its agent is told why.",
    "abort": "The runs end for good. What they did stays in the ledger.",
    "retry": "Each gate may be tried again.",
    "skip": "Each gate is left out and counts as not passed.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedReview:
    """`sent` goes back with the decision: what was shown is what is ruled on."""

    code: str
    url: str
    title: str
    agent: str
    sent: str
    claimed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """`left_out` says which are not ruled in bulk; nothing is offered with a `fault`."""

    action: str
    title: str
    verb: str
    effect: str
    items: list[SelectedReview]
    agents: str
    claimed: str
    left_out: list[str]
    beyond: int
    fault: str

    @property
    def needs_reason(self) -> bool:
        return self.action != "approve"


def build_summary(
    reviews: Sequence[Review], *, action: str, slug: str, viewer_id: int, beyond: int
) -> Summary:
    """`beyond` is how many more were selected than can be ruled at once."""
    critical = [each for each in reviews if each.severity == Severity.CRITICAL]
    ruled = [each for each in reviews if each.severity != Severity.CRITICAL]
    items = [_build_item(each, slug=slug, viewer_id=viewer_id) for each in ruled]
    agents = Counter(item.agent for item in items)
    claimers = Counter(item.claimed for item in items if item.claimed)
    verb, _ = VERBS[action]
    return Summary(
        action=action,
        title=f"{verb} {format_count(len(items), 'review')}?",
        verb=verb,
        effect=_EFFECTS[action],
        items=items,
        agents=_count_names(agents),
        claimed=_count_names(claimers),
        left_out=[make_visible_line(each.title) for each in critical],
        beyond=beyond,
        fault=_find_fault(ruled, action=action),
    )


def _find_fault(reviews: Sequence[Review], *, action: str) -> str:
    kinds = {review.kind for review in reviews}
    if not kinds:
        return "None of these can be ruled in bulk: rule on each by itself."
    if len(kinds) > 1:
        names = " and ".join(sorted(get_kind(kind).nouns[1] for kind in kinds))
        return f"These are {names}. Select reviews of one kind."
    (kind,) = kinds
    if action not in list_bulk_actions(kind):
        return f"This is not a choice for {get_kind(kind).nouns[1]}."
    return ""


def _build_item(review: Review, *, slug: str, viewer_id: int) -> SelectedReview:
    other = review.assignee if review.assignee_id != viewer_id else None
    claimer = str(other.code) if other else ""
    return SelectedReview(
        code=str(review.code),
        url=reverse("console:review", args=[slug, review.code]),
        title=make_visible_line(review.title),
        agent=make_visible_line(review.run.agent.name),
        sent=f"{review.code} {review.version} {review.content_digest} {claimer}",
        claimed=build_person(other).name if other else "",
    )


def _count_names(names: Counter[str]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in names.most_common())
