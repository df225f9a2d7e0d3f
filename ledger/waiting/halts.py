"""The halts that waiting agents are told of: read once in a process, however many wait.

A change is heard of by the process's own commit, by PostgreSQL's LISTEN, or by the hub's
re-check of the versions. What is told here is a hint to whoever waits; that nothing goes on
is the writer's matter.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from ledger.models import ProjectHead, Run
from ledger.state import parse_lineage
from ledger.writer.db_threads import run_in_db_thread
from ledger.writer.halts import ProjectHalts, read_halts


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What never changes of a run, and says which halts hold it."""

    id: int
    project_id: int
    agent_id: int
    labels: Mapping[str, str]
    ancestors: tuple[int, ...]
    observed: bool


def get_run_facts(run_id: int) -> RunFacts:
    run = Run.objects.only("project_id", "agent_id", "labels", "lineage").get(pk=run_id)
    return RunFacts(
        id=run.pk,
        project_id=run.project_id,
        agent_id=run.agent_id,
        labels=run.labels,
        ancestors=parse_lineage(run.lineage),
        observed=run.observed,
    )


class HaltWatch:
    """Belongs to a hub, and to its event loop."""

    def __init__(self) -> None:
        self._known: dict[int, ProjectHalts] = {}
        self._reading: dict[int, asyncio.Task[ProjectHalts]] = {}
        self._changes: Counter[int] = Counter()

    async def get(self, project_id: int) -> ProjectHalts:
        """As they stand, read once for all who ask at the same time."""
        known = self._known.get(project_id)
        if known is not None:
            return known
        reading = self._reading.get(project_id)
        if reading is None:
            reading = asyncio.get_running_loop().create_task(self._read(project_id))
            self._reading[project_id] = reading
            reading.add_done_callback(lambda _: self._reading.pop(project_id, None))
        return await asyncio.shield(reading)

    def drop(self, project_id: int) -> None:
        """They have changed."""
        self._changes[project_id] += 1
        self._known.pop(project_id, None)

    def list_projects(self) -> list[int]:
        return [*self._known]

    def list_changed(self, versions: Mapping[int, int]) -> list[int]:
        """Those of which another version is stored than the one that is known."""
        return [
            project_id
            for project_id, version in versions.items()
            if project_id in self._known and self._known[project_id].version != version
        ]

    async def _read(self, project_id: int) -> ProjectHalts:
        """What changes while it is read is read again."""
        while True:
            change = self._changes[project_id]
            known = await run_in_db_thread(partial(read_halts, project_id))
            if self._changes[project_id] == change:
                self._known[project_id] = known
                return known


def get_versions(project_ids: Iterable[int]) -> dict[int, int]:
    heads = ProjectHead.objects.filter(pk__in=list(project_ids))
    return dict(heads.values_list("pk", "halts_version"))
