"""Everything that needs a person now, the worst first; what is proved whole comes last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from console.overview.links import Links
from console.overview.needs.ledger import find_ledger_state
from console.overview.needs.limits import UsedLimit, find_near_limits
from console.overview.needs.need import Need, sort_needs
from console.overview.needs.queue import find_full_queue
from console.overview.needs.reviews import find_late_reviews
from console.overview.needs.runs import find_failing, find_silent, find_stopped
from console.overview.needs.webhooks import find_broken_webhooks


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    needs: tuple[Need, ...]

    @property
    def count(self) -> int:
        """Those that wait for somebody."""
        return sum(not each.is_good for each in self.needs)


def build_strip(
    *, project_id: int, at: datetime, limits: Sequence[UsedLimit], links: Links
) -> Strip:
    found = (
        *find_full_queue(project_id=project_id, links=links),
        *find_ledger_state(project_id=project_id, at=at, links=links),
        *find_stopped(project_id=project_id, links=links),
        *find_near_limits(limits, links=links),
        *find_failing(project_id=project_id, links=links),
        *find_silent(project_id=project_id, at=at, links=links),
        *find_late_reviews(project_id=project_id, at=at, links=links),
        *find_broken_webhooks(project_id=project_id, at=at, links=links),
    )
    return Strip(needs=tuple(sort_needs(found)))
