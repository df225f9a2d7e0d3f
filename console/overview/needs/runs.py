"""Runs that were stopped, agents whose runs fail, and agents that say nothing any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q, QuerySet

from console.format import format_count, format_seconds
from console.overview.links import Links
from console.overview.needs.need import Need, name_some
from ledger.halts.held_runs import exclude_held
from ledger.models import FINAL, Run, RunStatus
from ledger.selectors import exclude_system_runs

# Of an agent's last runs so many are looked at, and so many failed ones are too many.
LAST_RUNS = 5
FAILED_LEAST = 3
# So many of the project's newest runs are read for it, however long the project lives.
RUNS_LIMIT = 300
SILENT_AFTER = timedelta(minutes=30)


def find_stopped(*, project_id: int, links: Links) -> Iterator[Need]:
    rows = (
        _list_runs(project_id)
        .filter(status=RunStatus.STOPPED)
        .values_list("agent__name")
        .annotate(count=Count("pk"), newest=Max("pk"))
        .order_by("-newest")
    )
    found = [(name, count) for name, count, _ in rows]
    if found:
        total = sum(count for _, count in found)
        yield Need(
            tone="stop",
            icon="stop",
            title=f"{format_count(total, 'run')} stopped",
            about=name_some([name for name, _ in found]),
            href=links.list_runs(status="stopped"),
            harm=2,
        )


def find_failing(*, project_id: int, links: Links) -> Iterator[Need]:
    """Agents of whose last runs most failed, the newest among them."""
    rows = _list_runs(project_id).order_by("-pk").values_list("agent__name", "status")
    ends: dict[str, list[str]] = defaultdict(list)
    for name, status in rows[:RUNS_LIMIT]:
        if status in FINAL and len(ends[name]) < LAST_RUNS:
            ends[name].append(status)
    failing = {
        name: statuses.count(RunStatus.FAILED)
        for name, statuses in ends.items()
        if statuses[:1] == [RunStatus.FAILED]
        and statuses.count(RunStatus.FAILED) >= FAILED_LEAST
    }
    if not failing:
        return
    names = sorted(failing, key=lambda each: (-failing[each], each))
    (first, *others) = names
    yield Need(
        tone="stop",
        icon="fail",
        title=(
            f"{format_count(len(names), 'agent')} keep failing"
            if others
            else f"{name_some([first])} keeps failing"
        ),
        about=(
            name_some(names)
            if others
            else f"{failing[first]} of its last {len(ends[first])} runs failed"
        ),
        href=links.list_runs(status="failed", agent="" if others else first),
        harm=3,
    )


def find_silent(*, project_id: int, at: datetime, links: Links) -> Iterator[Need]:
    """Runs that should be working and have told nothing for long.

    Runs that began later cannot be silent for so long, and when they began is indexed.
    """
    since = at - SILENT_AFTER
    rows = (
        exclude_held(_list_runs(project_id), run="pk")
        .filter(status=RunStatus.RUNNING, created_at__lte=since, updated_at__lte=since)
        # A coding agent that waits for its person has nothing to tell.
        .exclude(Q(running_ms__isnull=False) & Q(running_since__isnull=True))
        .order_by("updated_at")
        .values_list("agent__name", "updated_at")
    )
    found = list(rows)
    if found:
        oldest = format_seconds((at - found[0][1]).total_seconds())
        yield Need(
            tone="pause",
            icon="clock",
            title=f"{format_count(len(found), 'run')} silent",
            about=f"{name_some(list(dict.fromkeys(name for name, _ in found)))}, up to {oldest}",
            href=links.list_runs(status="running"),
            harm=5,
        )


def _list_runs(project_id: int) -> QuerySet[Run]:
    return exclude_system_runs(Run.objects.filter(project_id=project_id))
