"""The mail itself: what waits and where to look, and nothing that decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from notifications.addresses import build_review_address
from notifications.models import Occasion
from notifications.selectors import Told
from reviews.models import Severity
from safetext import make_visible_line

SHOWN = 20


def build_subject(told: Sequence[Told]) -> str:
    """Of several, how many and how bad; of one, its title."""
    if len(told) == 1:
        review = told[0].review
        ends = told[0].occasion == Occasion.ENDS_SOON
        lead = "Ends soon" if ends else review.severity.capitalize()
        return f"{lead}: {make_visible_line(review.title)}"[:200]
    counts = Counter(each.review.severity for each in told)
    parts = [f"{counts[each]} {each}" for each in Severity.values if counts[each]]
    return f"{len(told)} reviews wait for you: {', '.join(parts)}"


def build_text(told: Sequence[Told], *, at: datetime) -> str:
    blocks = [_describe(each, at=at) for each in told[:SHOWN]]
    if len(told) > SHOWN:
        blocks.append(f"And {len(told) - SHOWN} more.")
    blocks.append(
        "Decide on the page behind each link. Which mails you get, you choose there "
        "under Settings, Notifications."
    )
    return "\n\n".join(blocks) + "\n"


def _describe(told: Told, *, at: datetime) -> str:
    review = told.review
    agent = make_visible_line(review.run.agent.name)
    lines = [
        f"{review.severity.upper()}  {make_visible_line(review.title)}",
        f"{agent}, project {make_visible_line(review.project.name)}",
        f"Ends in {_format_left(review.due_at - at)}, then: {review.on_expiry}",
        build_review_address(review.project.slug, review.code),
    ]
    return "\n".join(lines)


def _format_left(left: timedelta) -> str:
    minutes = max(int(left.total_seconds()) // 60, 0)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
