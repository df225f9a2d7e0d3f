"""Change requests on their way to a commit: whoever waits for them, and what they become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Model

from ledger.chain import SealedEntry
from ledger.plan import Change, NewRow, Statement, WaiterAnswer
from ledger.state import RunState
from ledger.writer.changes import ChangeRequest
from ledger.writer.run_writes import RunWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a commit changed: projects, runs, and those of them that somebody may
    wait for. Where it was one change: what waiters are answered, and ids of
    keys of the run's agent known to be valid."""

    projects: frozenset[int]
    changed_run_ids: frozenset[int]
    waited_run_ids: frozenset[int]
    waiter_answer: WaiterAnswer | None = None
    valid_key_ids: frozenset[int] = frozenset()
    # Other halts stand in these projects than before.
    halts_changed: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Job:
    """A change request and whoever waits for it."""

    request: ChangeRequest[Any]
    answer: Callable[[Any, BaseException | None], None]
    attempts: int = 0
    settled: bool = False
    # From here on it may be done, whatever goes wrong.
    committing: bool = False

    def settle(self, answer: Any, error: BaseException | None) -> None:
        """Answer the caller, once."""
        if not self.settled:
            self.settled = True
            self.answer(answer, error)

    @property
    def needs_own_transaction(self) -> bool:
        """Decided under the project's lock, in a transaction of its own."""
        request = self.request
        return request.locked or request.needs_lock or request.idempotency is not None


@dataclass(slots=True)
class PendingRun:
    """One run's part of a batch; `before` is its state that was decided on."""

    before: RunState
    write: RunWrite
    rows: list[Model | NewRow] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    effects: list[Callable[[], object]] = field(default_factory=list)
    answers: list[tuple[Job, Change[Any], Sequence[SealedEntry]]] = field(
        default_factory=list
    )

    def add(
        self,
        job: Job,
        change: Change[Any],
        state: RunState,
        entries: Sequence[SealedEntry],
        halts_version: int | None,
    ) -> None:
        self.write.state = state
        if halts_version is not None:
            self.write.halts_version = halts_version
        self.write.spent = state.spent.subtract(self.before.spent)
        self.write.entries += entries
        self.rows += change.plan.rows
        self.statements += change.plan.statements
        self.effects += change.plan.side_updates
        self.answers.append((job, change, entries))
        self.write.wakes = self.write.wakes or change.plan.wakes_waiters
        self.write.takes_calls = self.write.takes_calls or change.plan.takes_calls

    @property
    def is_plain(self) -> bool:
        """Whether the statements that store a batch are enough, also for the limits that its
        calls share with others."""
        return (
            not (self.statements or self.effects)
            and all(type(row) is NewRow for row in self.rows)
            and (self.write.shares_nothing or not self.write.takes_calls)
        )


class Judged(NamedTuple):
    """What a batch is to store, by the codes of runs; `again` are to be judged once more."""

    items: dict[str, PendingRun]
    again: list[Job]

    def list_jobs(self) -> list[Job]:
        jobs = (job for item in self.items.values() for job, _, _ in item.answers)
        return [*jobs, *self.again]


class Batch(NamedTuple):
    """One that is being stored: `fetch_stored` waits for its commit and returns the ids of
    the runs that were stored."""

    judged: Judged
    fetch_stored: Callable[[], set[int]]
    # Within so many seconds.
    is_done: Callable[[float], bool] = lambda _seconds: True

    def holds(self, run_code: str) -> bool:
        """Whether the run's next state is not known before this is committed."""
        return run_code in self.judged.items
