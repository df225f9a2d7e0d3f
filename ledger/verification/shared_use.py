"""The shared use of runs, counted again from their entries, beside what is stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Q

from accounts.models import Agent
from guidance.core.runs.shared_limits import NOTHING, PARTS, RUN
from guidance.core.runs.usage import Usage
from ledger.models import Run, SharedUse
from ledger.state import parse_lineage
from ledger.writer.run_writes import Key, list_periods

Counts = list[int]


class RunUse:
    """The use of one run, by the moment at which it was counted."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.moments: list[tuple[datetime, Usage]] = []

    def add(self, at: datetime, spent: Usage) -> None:
        if spent != NOTHING:
            self.moments.append((at, spent))


class ProjectUse:
    """The counters of a project as they follow from the entries of all its runs.

    A server of before did not count. What an entry from before the counters were made took
    is in them where it was copied here later, and is not where it was stored here.
    """

    def __init__(self, project_id: int) -> None:
        self._project_id = project_id
        self._since = get_counted_since()
        self._all: dict[Key, Counts] = defaultdict(lambda: [0, 0, 0])
        self._counted: dict[Key, Counts] = defaultdict(lambda: [0, 0, 0])

    def add_run(self, use: RunUse) -> None:
        run = use.run
        above = [(RUN, each, "") for each in parse_lineage(run.lineage)]
        for at, spent in use.moments:
            day, month = list_periods(at)
            keys = [
                *above,
                ("agent", run.agent_id, day),
                ("project", run.project_id, day),
                ("project", run.project_id, month),
            ]
            amounts = [getattr(spent, part) for part in PARTS]
            is_counted = self._since is None or at >= self._since
            for key in keys:
                _add(self._all[key], amounts)
                if is_counted:
                    _add(self._counted[key], amounts)

    def list_faults(self) -> Iterator[str]:
        """A sentence for each counter that is not what the entries say."""
        stored = self._read_stored()
        for key in sorted({*stored, *self._all}):
            found = stored.get(key, [0, 0, 0])
            said = self._all.get(key, [0, 0, 0])
            if found not in (said, self._counted.get(key, [0, 0, 0])):
                yield _describe(key, found, said)

    def _read_stored(self) -> dict[Key, Counts]:
        runs = Run.objects.filter(project_id=self._project_id).values("pk")
        agents = Agent.objects.filter(project_id=self._project_id).values("pk")
        rows = SharedUse.objects.filter(
            Q(scope=RUN, owner__in=runs)
            | Q(scope="agent", owner__in=agents)
            | Q(scope="project", owner=self._project_id)
        )
        columns = rows.values_list("scope", "owner", "period", *PARTS)
        return {
            (scope, owner, period): counts
            for scope, owner, period, *counts in columns.iterator(chunk_size=1000)
        }


def get_counted_since() -> datetime | None:
    """When this database got its counters; None where nobody knows."""
    applied = MigrationRecorder(connection).applied_migrations()
    found = applied.get(("ledger", "0005_shared_use"))
    return None if found is None else found.applied


def _add(counts: Counts, amounts: Counts) -> None:
    for place, amount in enumerate(amounts):
        counts[place] += amount


def _describe(key: Key, found: Counts, said: Counts) -> str:
    scope, owner, period = key
    place = next(place for place in range(len(PARTS)) if found[place] != said[place])
    rows: Agent | Run | None
    if scope == "agent":
        rows = Agent.objects.filter(pk=owner).first()
        whose = f"the agent {owner if rows is None else rows.name}"
    elif scope == RUN:
        rows = Run.objects.filter(pk=owner).first()
        whose = f"all runs below the run {owner if rows is None else rows.code}"
    else:
        whose = "the project"
    when = f" in {period}" if period else ""
    return f"{whose} used {found[place]} of {PARTS[place]}{when}, the chains say {said[place]}"
