"""The halts that change requests obey, as the writer remembers them.

Every commit locks the project's head row, and with it comes `halts_version`: a run is stored
only if that is still the version by which its changes were decided. So no step, call or claim
stands behind the entry of a halt, whatever a process had heard of it, and nobody has to read
halts before a step (docs/adr/0035).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from django.db import connection

from common.errors import DomainError
from guidance.core.runs.halts import HaltScope, Interval
from ledger.chain import format_timestamp
from ledger.models import Halt, ProjectHead
from ledger.plan import Change
from ledger.state import RunState
from ledger.writer.changes import ChangeRequest, LockRequired

# Waits on the run's decision are answered when it is released: this is for new runs.
RETRY_AFTER_S = 5
CHANNEL = "checkrail_halts"
_BUMP = (
    "UPDATE ledger_projecthead SET halts_version = halts_version + 1 "
    "WHERE project_id = %s"
)


class Halted(DomainError):
    slug, status, title = "halted", 409, "A person has halted this"

    @classmethod
    def from_halt(cls, halt: KnownHalt) -> Halted:
        return cls(
            f"Halted by {halt.by}: {halt.reason}",
            headers={"Retry-After": str(RETRY_AFTER_S)},
            halt=halt.to_json(),
        )


class HeldRun(Protocol):
    """What has to be known of a run to tell whether a halt holds it; it never changes."""

    @property
    def id(self) -> int: ...

    @property
    def agent_id(self) -> int: ...

    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def ancestors(self) -> Sequence[int]: ...

    @property
    def observed(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownHalt:
    id: int
    code: str
    project_id: int
    scope: HaltScope
    reason: str
    by: str
    at: datetime
    released_at: datetime | None

    def covers(self, run: HeldRun) -> bool:
        """Runs that are only observed were never held, and are not halted."""
        return not run.observed and self.scope.covers(
            run_id=run.id,
            agent_id=run.agent_id,
            labels=run.labels,
            ancestors=run.ancestors,
        )

    @property
    def interval(self) -> Interval:
        assert self.released_at is not None
        return Interval(self.at, self.released_at)

    def to_json(self) -> dict[str, str]:
        return {
            "id": self.code,
            "reason": self.reason,
            "by": self.by,
            "at": format_timestamp(self.at),
        }


class ProjectHalts(NamedTuple):
    """Those of a project at one version: standing ones, and those that are released while
    their runs have not all got their time back."""

    version: int
    standing: tuple[KnownHalt, ...] = ()
    released: tuple[KnownHalt, ...] = ()

    def find(self, run: HeldRun) -> KnownHalt | None:
        """The oldest one that the run is held by."""
        return next((halt for halt in self.standing if halt.covers(run)), None)

    def refuse(self, run: HeldRun) -> None:
        halt = self.find(run)
        if halt is not None:
            raise Halted.from_halt(halt)

    def list_unmoved(self, run: HeldRun) -> list[KnownHalt]:
        """Released ones by which deadlines of this run may have to be moved."""
        return [halt for halt in self.released if halt.covers(run)]


def read_halts(project_id: int) -> ProjectHalts:
    """The version first: halts that come in between are newer than it says, and what is
    decided by them is decided again."""
    heads = ProjectHead.objects.filter(pk=project_id)
    version = heads.values_list("halts_version", flat=True).first() or 0
    known = list_halts(project_id=project_id)
    return ProjectHalts(
        version,
        tuple(halt for halt in known if halt.released_at is None),
        tuple(halt for halt in known if halt.released_at is not None),
    )


def list_halts(*, project_id: int) -> list[KnownHalt]:
    """Those that still matter, the oldest first; of released ones in the order of that."""
    rows = Halt.objects.filter(project_id=project_id, deadlines_moved_at=None)
    rows = rows.select_related("by")
    return [build_known(row) for row in rows.order_by("released_at", "pk")]


def build_known(row: Halt) -> KnownHalt:
    return KnownHalt(
        id=row.pk,
        code=str(row.code),
        project_id=row.project_id,
        scope=HaltScope(
            agent_id=row.agent_id,
            label=row.label,
            run_id=row.run_id,
            children=row.children,
        ),
        reason=row.reason,
        by=row.by.username,
        at=row.at,
        released_at=row.released_at,
    )


class HaltCache:
    """By project. What is remembered is worth trying, never worth believing."""

    def __init__(self) -> None:
        self._known: dict[int, ProjectHalts] = {}
        self._fresh: set[int] = set()

    def begin_batch(self) -> None:
        """What was read for an earlier batch is no longer fresh."""
        self._fresh.clear()

    def get(self, project_id: int) -> ProjectHalts:
        return self._known.get(project_id) or self._read(project_id)

    def check_halts(
        self, request: ChangeRequest[Any], change: Change[Any], run: RunState
    ) -> int | None:
        """The version of the halts that let it through; None where it obeys none. A
        refusal rests on what was read for this batch, once for all."""
        if not request.obeys_halts or not change.plan.drafts:
            return None
        halts = self.get(run.project_id)
        if halts.find(run) is not None:
            if run.project_id not in self._fresh:
                halts = self._read(run.project_id)
            halts.refuse(run)
        if halts.list_unmoved(run):
            raise LockRequired  # its deadlines are moved there first
        return halts.version

    def get_at(self, project_id: int, version: int) -> ProjectHalts:
        """Those of a version that was read under the project's lock."""
        known = self._known.get(project_id)
        if known is not None and known.version == version:
            return known
        return self._read(project_id)

    def _read(self, project_id: int) -> ProjectHalts:
        known = self._known[project_id] = read_halts(project_id)
        self._fresh.add(project_id)
        return known

    def drop(self, project_id: int) -> None:
        self._known.pop(project_id, None)

    def clear(self) -> None:
        self._known.clear()


def raise_halts_version(project_id: int) -> None:
    """In the commit that changes them, under the project's lock. Other processes are told."""
    with connection.cursor() as cursor:
        cursor.execute(_BUMP, [project_id])
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(project_id)])


# Gives a run the time back for which a released halt held it; None if it has it already.
Mover = Callable[[RunState, KnownHalt], ChangeRequest[Any] | None]
_movers: list[Mover] = []


def register_mover(mover: Mover) -> None:
    """For an app that has deadlines, at start-up."""
    _movers.append(mover)


def list_moves(run: RunState, halts: ProjectHalts) -> list[ChangeRequest[Any]]:
    """What must be done before a deadline of this run may be judged."""
    moves = (mover(run, halt) for halt in halts.list_unmoved(run) for mover in _movers)
    return [move for move in moves if move is not None]
