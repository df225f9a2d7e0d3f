"""The mail itself: what waits and where to look, and nothing that decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from accounts.models import Project
from notifications.addresses import build_queue_address, build_review_address
from notifications.models import Occasion
from notifications.selectors import Told
from reviews.models import Severity
from reviews.queue.floods import Crowd
from safetext import make_visible_line

SHOWN = 20
TEST_SUBJECT = "Checkrail can reach you"
TEST_TEXT = (
    "This is the test that you asked for on Settings, Notifications. Mail about open "
    "reviews comes the same way.\n"
)


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


def build_text(told: Sequence[Told], *, at: datetime, zone: tzinfo = UTC) -> str:
    blocks = [_describe(each, at=at, zone=zone) for each in told[:SHOWN]]
    if len(told) > SHOWN:
        blocks.append(f"And {len(told) - SHOWN} more.")
    blocks.append(
        "Decide on the page behind each link. Which mails you get, you choose there "
        "under Settings, Notifications."
    )
    return "\n\n".join(blocks) + "\n"


def build_queue_subject(crowd: Crowd, project: Project) -> str:
    state = "full" if crowd.refuses else f"{crowd.percent} % full"
    return f"Review queue of {make_visible_line(project.name)}: {state}"[:200]


def build_queue_text(crowd: Crowd, project: Project) -> str:
    """Say how full it is, what follows, which agents fill it, and where to close theirs."""
    more = crowd.agents - len(crowd.shares)
    agents = [f"{each.agent}: {each.count:,}" for each in crowd.shares]
    if crowd.full:
        then = (
            "New questions are refused, critical ones too, and what would pause stops."
        )
    elif crowd.refuses:
        then = "Only critical ones are still taken, all others are refused."
    else:
        then = "When it is full, new questions are refused and what would pause stops."
    return (
        "\n\n".join(
            [
                f"{crowd.count:,} of {crowd.limit:,} open reviews. {then}",
                "\n".join([*agents, *([f"and {more:,} more agents"] if more else [])]),
                build_queue_address(project.slug),
                "The limit is caps.open_reviews of the policy named default. You get this as a "
                "manager of the project; Settings, Notifications, Never ends it.",
            ]
        )
        + "\n"
    )


def _describe(told: Told, *, at: datetime, zone: tzinfo) -> str:
    review = told.review
    agent = make_visible_line(review.run.agent.name)
    lines = [
        f"{review.severity.upper()}  {make_visible_line(review.title)}",
        f"{agent}, project {make_visible_line(review.project.name)}",
        f"Ends in {_format_left(review.due_at - at)} "
        f"({review.due_at.astimezone(zone):%A %H:%M %Z}), then: {review.on_expiry}",
        build_review_address(review.project.slug, review.code),
    ]
    return "\n".join(lines)


def _format_left(left: timedelta) -> str:
    minutes = max(int(left.total_seconds()) // 60, 0)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
