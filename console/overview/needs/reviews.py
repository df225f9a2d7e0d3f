"""Reviews whose time is over, or soon will be: what nobody rules on ends by itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from console.format import format_count, format_seconds
from console.overview.links import Links
from console.overview.needs.need import Need
from reviews.queue.filters import list_open
from safetext import make_visible_line

SOON = timedelta(minutes=15)


def find_late_reviews(*, project_id: int, at: datetime, links: Links) -> Iterator[Need]:
    rows = (
        list_open(project_id=project_id)
        .filter(answer_by__lte=at + SOON)
        .order_by("answer_by")
        .values_list("answer_by", "title")
    )
    found = list(rows)
    late = [row for row in found if row[0] <= at]
    soon = found[len(late) :]
    if late:
        waited = format_seconds((at - late[0][0]).total_seconds())
        yield Need(
            tone="stop",
            icon="flag",
            title=f"{format_count(len(late), 'review')} past due",
            about=f"Oldest {waited}, {make_visible_line(late[0][1])}",
            href=links.open_queue(show="overdue"),
            harm=4,
        )
    if soon:
        left = format_seconds((soon[0][0] - at).total_seconds())
        yield Need(
            tone="pause",
            icon="flag",
            title=f"{format_count(len(soon), 'review')} due soon",
            about=f"First in {left}, {make_visible_line(soon[0][1])}",
            href=links.open_queue(sort="due"),
            harm=3,
        )
