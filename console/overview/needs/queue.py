"""A queue that is full, or nearly so: from then on nobody can be asked."""

from __future__ import annotations

from collections.abc import Iterator

from console.overview.links import Links
from console.overview.needs.need import Need
from console.queue.floods import describe_shares, describe_title
from reviews.queue.floods import count_open, read_filling


def find_full_queue(*, project_id: int, links: Links) -> Iterator[Need]:
    """Before all others: whatever else goes wrong, no person will be asked about it."""
    total = count_open(project_id)
    crowd = read_filling(project_id=project_id, total=total).crowd
    if crowd is not None:
        yield Need(
            tone="stop" if crowd.refuses else "pause",
            icon="inbox",
            title=describe_title(crowd),
            about=(
                f"{crowd.count:,} of {crowd.limit:,} open reviews: "
                f"{describe_shares(crowd)}"
            ),
            href=links.open_queue(),
            harm=-1,
        )
