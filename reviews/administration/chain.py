"""The chain of a project's administration: a run of the server's own.

`perform_change` is the only way to write to it: the rows and the entry that tells of them
are one commit. No entry holds a secret: a key or a token is told by its name and its first
characters. It begins with a record of what was there before; a chain that an older server
began gets a full one with its next change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from accounts.auth import PersonPrincipal
from accounts.models import SYSTEM_SETTINGS
from common.errors import Unchanged
from guidance.services import DEFAULT, get_policy_in_force
from ledger.models import Entry
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from ledger.writer.system_runs import RunStarted, StartSystemRun, find_newest_run
from reviews.administration.described_rows import RECORD_VERSION, build_record
from reviews.errors import RunClosed

T = TypeVar("T")
Perform = Callable[[ChangeRequest[Any]], Any]
TASK = "Settings"
RECORDED = "settings.recorded"
SYSTEM_ACTOR = f"system:{SYSTEM_SETTINGS}"


class AuditEntry(NamedTuple):
    type: str
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedChange(Generic[T]):
    """`store` writes the rows and returns what the caller gets; `entries` tell of it.
    `changes_halts`: other halts stand after it."""

    entries: Sequence[AuditEntry]
    store: Callable[[datetime], T]
    changes_halts: bool = False


def perform_change(
    *,
    project_id: int,
    by: PersonPrincipal | None,
    prepare: Callable[[], PreparedChange[T]],
    perform: Perform | None = None,
) -> T:
    """Perform a change and write its entries, in one commit.

    `prepare` reads and decides while nobody else changes the project: it may be called
    more than once, and refuses by raising a DomainError. `by` is None where a command of
    the server does it. A project that is new gets its row first, and its first member here.
    `perform` is for a demo's past alone: everybody else writes by the process's writer.
    """
    perform = perform or get_writer().perform_now
    while True:
        run_code = _ensure_run(project_id, perform)
        request = AdministrationChange(run_code=run_code, person=by, prepare=prepare)
        try:
            stored: T = perform(request)
            return stored
        except ChainMoved:
            continue


def is_recorded(project_id: int) -> bool:
    """Tell whether the chain has a full record of what stood there, however late."""
    records = Entry.objects.filter(
        project_id=project_id, run__agent__name=SYSTEM_SETTINGS, type=RECORDED
    )
    payloads = records.order_by("-position").values_list("payload", flat=True)
    return any(
        json.loads(payload).get("version", 1) >= RECORD_VERSION for payload in payloads
    )


def record_known(project_id: int) -> None:
    """Have the chain tell of everything, where it does not yet."""

    def prepare() -> PreparedChange[None]:
        if is_recorded(project_id):
            raise Unchanged("The chain tells of everything already.")
        return PreparedChange(entries=[], store=lambda _at: None)

    with suppress(Unchanged):
        perform_change(project_id=project_id, by=None, prepare=prepare)


def build_difference(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """`before` and `after` with no more than what differs; empty where nothing does."""
    changed = [name for name in after if before[name] != after[name]]
    if not changed:
        return {}
    return {
        "before": {name: before[name] for name in changed},
        "after": {name: after[name] for name in changed},
    }


class ChainMoved(RunClosed):
    """Internal: the run of the chain was ended; the caller goes on with the next one."""


@dataclass(kw_only=True)
class AdministrationChange(ChangeRequest[T]):
    person: PersonPrincipal | None
    prepare: Callable[[], PreparedChange[T]]
    prepared: PreparedChange[T] = field(init=False)
    stored: T = field(init=False)
    record: dict[str, Any] | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        if not run.closed:
            known = is_recorded(run.project_id)
            self.record = None if known else build_record(run.project_id)
            self.prepared = self.prepare()

    def decide(self, run: RunState, at: datetime) -> Change[T]:
        if run.closed:
            raise ChainMoved.from_run(run)
        plan = Plan(run, at)
        actor = self.person.actor if self.person else SYSTEM_ACTOR
        if self.record is not None:
            plan.add_entry(RECORDED, actor=SYSTEM_ACTOR, payload=self.record)
        for entry in self.prepared.entries:
            plan.add_entry(entry.type, actor=actor, payload=entry.payload)
        plan.side_updates.append(lambda: self._store(at))
        plan.changes_halts = self.prepared.changes_halts
        return plan.change(self._get_stored)

    def _store(self, at: datetime) -> None:
        self.stored = self.prepared.store(at)

    def _get_stored(self, _entries: Sequence[SealedEntry]) -> T:
        return self.stored


@dataclass(kw_only=True)
class StartAdministrationRun(StartSystemRun):
    """The first one records who and what was there before."""

    name: str = SYSTEM_SETTINGS
    task: str = TASK
    recorded: dict[str, Any] = field(default_factory=dict, init=False)

    def create(self, at: datetime) -> RunState:
        run = super().create(at)
        if self.parent is None:
            self.recorded = build_record(self.owner_id)
        return run

    def add_more(self, plan: Plan) -> None:
        if self.recorded:
            plan.add_entry(RECORDED, actor=SYSTEM_ACTOR, payload=self.recorded)


def _ensure_run(project_id: int, perform: Perform) -> str:
    """The code of the run for new entries; starts one if there is none."""
    newest = find_newest_run(project_id, SYSTEM_SETTINGS)
    if newest is not None and newest.finished_at is None:
        return str(newest.code)
    policy = get_policy_in_force(project_id=project_id, name=DEFAULT)
    request = StartAdministrationRun(owner_id=project_id, policy=policy, parent=newest)
    try:
        started: str = perform(request)
        return started
    except RunStarted:
        return _ensure_run(project_id, perform)
