"""The tabs above the list: all, the active ones, and one for each end."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from accounts.models import SYSTEM_AGENTS
from console.runs.list.address import ListState
from ledger.models import Run, RunEnd
from ledger.run_list.matching import OPEN

# Name, and the query that it stands for; the statuses that it counts.
TABS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("All", "", ()),
    ("Active", "status:active", ("running", "paused")),
    ("Stopped", "status:stopped", ("stopped",)),
    ("Completed", "status:completed", ("completed",)),
    ("Failed", "status:failed", ("failed",)),
    ("Aborted", "status:aborted", ("aborted",)),
    ("Abandoned", "status:abandoned", ("abandoned",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    name: str
    address: str
    count: str
    current: bool


def count_statuses(*, project_id: int) -> dict[str, int]:
    """How many runs are in each status, without the server's own."""
    counts: dict[str, int] = {}
    ends = RunEnd.objects.filter(project_id=project_id)
    runs = Run.objects.filter(project_id=project_id, status__in=OPEN)
    for rows in (ends, runs):
        found = rows.exclude(intent__in=SYSTEM_AGENTS).values_list("status")
        counts.update(found.annotate(count=Count("pk")).order_by())
    return counts


def build_tabs(state: ListState, *, counts: dict[str, int]) -> list[Tab]:
    line = str(state.query)
    return [
        Tab(
            name=name,
            address=state.build_query_string(line=query),
            count=f"{sum(counts.get(each, 0) for each in statuses or counts):,}",
            current=line == query,
        )
        for name, query, statuses in TABS
    ]
