"""How change requests become commits: decided in order, stored once, answered after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar, cast

from django.db import connection, transaction
from django.db.models import Model
from django.db.utils import Error as DatabaseError

from common.errors import DomainError
from guidance.core.runs.shared_limits import NOTHING_SHARED
from guidance.selectors import get_policy
from ledger.idempotency import get_earlier_answer, store_answer
from ledger.plan import Change, NewRow, Statement
from ledger.state import RunState
from ledger.writer import sql
from ledger.writer.changes import (
    ChangeRequest,
    LockRequired,
    NewRunRequest,
    seal_entries,
)
from ledger.writer.halts import (
    HaltCache,
    Halted,
    ProjectHalts,
    list_moves,
    raise_halts_version,
)
from ledger.writer.jobs import Batch, Committed, Job, Judged, PendingRun
from ledger.writer.locking import (
    ProjectLock,
    create_project_head,
    get_session_pid,
    lock_project,
    store_locked,
    store_runs,
)
from ledger.writer.new_rows import build_insert, insert_rows
from ledger.writer.run_writes import RunWrite, list_periods
from ledger.writer.seen_runs import Stored, commit_seen
from ledger.writer.sent import Sent, SentCommit
from ledger.writer.shared_use import (
    NoRoom,
    is_known_to_share,
    read_shared_use,
    refuse_crowded_calls,
)
from ledger.writer.state_cache import LIMIT, StateCache
from ledger.writer.store_postgresql import send_runs

T = TypeVar("T")

logger = logging.getLogger(__name__)


class Committer:
    """Belongs to the writer's thread; `tell` is called after every commit. `read_clock`
    is for a demo's past alone: everybody else goes by the database's clock."""

    def __init__(
        self,
        tell: Callable[[Committed], None],
        *,
        read_clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._tell = tell
        self._read_clock = read_clock
        self.states = StateCache()
        self.halts = HaltCache()
        # Codes of runs that were not stored as if they shared nothing.
        self._sharing: set[str] = set()
        # Of the batch that is judged: those of which it was not read.
        self._unread: set[str] = set()
        # PostgreSQL's number for the connection that commits, told before it does:
        # notifications may be there before the commit has returned.
        self.session: int | None = None

    def forget(self) -> None:
        """After trouble nothing is believed: also not that a notification is our own,
        for whoever waits has then not been told by us."""
        self.states.clear()
        self.halts.clear()
        self._sharing.clear()
        self.session = None

    def commit_one(self, job: Job) -> None:
        """Lock first, then read the clock, then judge; unless what was read before holds."""
        self.session = get_session_pid()
        try:
            answer, stored = None, None
            if self._read_clock is None:
                stored = commit_seen(job, self.halts, _decide_locked)
            if stored is None:
                with transaction.atomic():
                    answer, stored = self._commit_locked(job.request)
                    job.committing = True
        except DomainError as refusal:
            job.settle(None, refusal)
            return
        if stored is None:
            job.settle(answer, None)
            return
        state = stored.write.state
        self.states.put(state)
        plan = stored.change.plan
        if plan.changes_halts:
            self.halts.drop(state.project_id)
        self._announce(
            [state],
            [state.id] if stored.write.wakes else [],
            waiter_answer=plan.waiter_answer,
            valid_key_ids=stored.valid_key_ids,
            halts_changed=frozenset([state.project_id] if plan.changes_halts else ()),
        )
        job.settle(answer, stored.change.refusal)

    def _commit_locked(self, request: ChangeRequest[T]) -> tuple[T, Stored | None]:
        if isinstance(request, NewRunRequest):
            create_project_head(request.project_id)
            lock = lock_project(request.project_id)
        else:
            lock, run = self._lock_moved(request)
        if self._read_clock is not None:
            lock = lock._replace(at=self._read_clock())
        if request.idempotency is not None:
            earlier = get_earlier_answer(request.idempotency, request.write_again)
            if earlier is not None:
                return earlier, None
        if isinstance(request, NewRunRequest):
            run = request.create(lock.at)
        halts = self.halts.get_at(run.project_id, lock.halts_version)
        change, write = _decide_locked(request, run, lock.at, halts)
        plan = change.plan
        if plan.changes_halts:
            raise_halts_version(run.project_id)
        if change.answer is None and not (plan.side_updates or request.idempotency):
            # Nobody needs the ids of the rows: they go into the statement that stores
            # the run, and a ruling is two statements in all (bench waking).
            inserted = map(build_insert, plan.rows)
            keys = store_locked(write, lock, [*inserted, *plan.statements])
        else:
            keys = store_locked(write, lock)
            _store_extras(plan.rows, plan.statements, plan.side_updates)
        answer = change.build_answer(write.entries)
        if request.idempotency is not None and change.refusal is None:
            at = write.state.updated_at
            store_answer(request.idempotency, answer=answer, at=at)
        return answer, Stored(write, change, keys)

    def _lock_moved(self, request: ChangeRequest[Any]) -> tuple[ProjectLock, RunState]:
        """The run with the time that it was halted for: its deadlines are judged next."""
        lock, run = self.states.lock(request.run_code)
        if not request.moves_deadlines:
            halts = self.halts.get_at(run.project_id, lock.halts_version)
            for move in list_moves(run, halts):
                self._commit_locked(move)
                lock, run = self.states.lock(request.run_code)
        return lock, run

    def commit_batch(self, jobs: Sequence[Job]) -> list[Job]:
        """One commit for all; returns the jobs that must be judged again."""
        return self.finish(self.begin(self.judge(jobs)))

    def judge(self, jobs: Sequence[Job], before: Judged | None = None) -> Judged:
        """May be called while another batch is being stored, for other runs than its.
        `before` are those that will be stored together with them."""
        now = self._read_clock() if self._read_clock else datetime.now(UTC)
        self.halts.begin_batch()
        self._read_shared_use(jobs, now)
        pending, again = before or Judged({}, [])
        for job in jobs:
            try:
                if not self._decide(job, now, pending):
                    again.append(job)
            except DomainError as refusal:
                job.settle(None, refusal)
            except LockRequired:
                job.request.needs_lock = True
                again.append(job)
            except DatabaseError:
                raise
            except Exception as error:
                logger.exception("%s was not judged", type(job.request).__name__)
                job.settle(None, error)
        return Judged(pending, again)

    def begin(self, judged: Judged) -> Batch:
        """Start to store it. Mostly that goes on while the next one is judged."""
        items = list(judged.items.values())
        if not items:
            return Batch(judged, set)
        self.session = get_session_pid()
        if _can_be_sent(items):
            sent = _send(items)
            return Batch(judged, sent.read_ids, sent.is_done)
        try:
            won = _store(items)
        except NoRoom as crowded:
            return Batch(Judged({}, judged.again + _list_undone(items, crowded)), set)
        return Batch(judged, lambda: won)

    def finish(self, batch: Batch) -> list[Job]:
        """Wait for the commit and answer; returns the jobs that must be judged again."""
        (items, again), won = batch.judged, batch.fetch_stored()
        if items:
            writes = [item.write for item in items.values()]
            wakes = [write.state.id for write in writes if write.wakes]
            self._announce([write.state for write in writes], wakes)
        for code, item in items.items():
            if item.write.state.id in won:
                self.states.put(item.write.state)
                for job, change, entries in item.answers:
                    job.settle(change.build_answer(entries), change.refusal)
            else:
                self.states.drop(code)
                self._sharing.add(code)
                self.halts.drop(item.write.state.project_id)
                for job, _, _ in item.answers:
                    # Whoever lost before could lose for ever: others keep moving the run.
                    job.request.needs_lock |= job.attempts > 0
                    again.append(job)
        return again

    def _read_shared_use(self, jobs: Sequence[Job], now: datetime) -> None:
        """Once for all: what runs share is as it was before this batch. Most share nothing
        that limits them: that is looked up where they are stored (bench steps)."""
        sharing = [job.request for job in jobs if job.request.shares]
        codes = dict.fromkeys(request.run_code for request in sharing)
        found = [state for state in map(self.states.find, codes) if state]
        read = [state for state in found if self._may_share(state)]
        shared = read_shared_use(read, now) if read else {}
        self._unread = {state.code for state in found if state.id not in shared}
        by_code = {state.code: shared[state.id] for state in read}
        if len(self._sharing) > LIMIT:
            self._sharing.clear()  # it costs each of them one attempt
        self._sharing -= {
            code for code, use in by_code.items() if use is NOTHING_SHARED
        }
        for request in sharing:
            request.shared = by_code.get(request.run_code, NOTHING_SHARED)

    def _may_share(self, state: RunState) -> bool:
        return state.code in self._sharing or is_known_to_share(state)

    def _decide(self, job: Job, now: datetime, pending: dict[str, PendingRun]) -> bool:
        """Put the job's change on the pile; False when it has to wait its turn."""
        code = job.request.run_code
        item = pending.get(code)
        run = item.write.state if item else self.states.get(code)
        at = max(now, run.updated_at)
        if item is not None and list_periods(at) != list_periods(run.updated_at):
            return False  # what it uses counts for another day than what came before
        try:
            change = load_and_decide(job.request, run, at)
            halts_version = self.halts.check_halts(job.request, change, run)
        except Halted:
            raise  # by what was read in this batch, and by what never changes of a run
        except DomainError:
            # Refused on what we remember, or on what this batch has not yet stored:
            # neither is the truth. Judge again on the stored run.
            if item is not None:
                return False
            run = self.states.read(code)
            at = max(now, run.updated_at)
            change = load_and_decide(job.request, run, at)
            halts_version = self.halts.check_halts(job.request, change, run)
        state, entries = seal_entries(run, change.plan, at)
        if item is None:
            write = RunWrite(
                old_hash=run.head_hash,
                state=state,
                before=run,
                shares_nothing=code in self._unread,
            )
            item = pending[code] = PendingRun(run, write)
        elif code in self._unread:
            item.write.shares_nothing = True
        item.add(job, change, state, entries, halts_version)
        return True

    def _announce(
        self, states: Sequence[RunState], wakes: Iterable[int], **more: Any
    ) -> None:
        self._tell(
            Committed(
                projects=frozenset(state.project_id for state in states),
                changed_run_ids=frozenset(state.id for state in states),
                waited_run_ids=frozenset(wakes),
                **more,
            )
        )


def load_and_decide(
    request: ChangeRequest[T], run: RunState, at: datetime
) -> Change[T]:
    get_policy(run.policy_id)  # cached: whatever decides may use it
    request.load(run, at)
    return decide(request, run, at)


def decide(request: ChangeRequest[T], run: RunState, at: datetime) -> Change[T]:
    """On its own, so that tests can forbid it the database."""
    return request.decide(run, at)


def _decide_locked(
    request: ChangeRequest[T], run: RunState, at: datetime, halts: ProjectHalts
) -> tuple[Change[T], RunWrite]:
    at = max(at, run.updated_at)
    request.halted = halts.find(run) is not None
    if request.shares:
        request.shared = read_shared_use([run], at)[run.id]
    try:
        change = load_and_decide(request, run, at)
    except LockRequired:
        request.needs_lock = True
        change = load_and_decide(request, run, at)
    if request.obeys_halts and change.plan.drafts:
        halts.refuse(run)
    state, entries = seal_entries(run, change.plan, at)
    write = RunWrite(
        old_hash=run.head_hash,
        state=state,
        spent=state.spent.subtract(run.spent),
        entries=list(entries),
        wakes=change.plan.wakes_waiters,
    )
    return change, write


def _can_be_sent(items: Sequence[PendingRun]) -> bool:
    """Whether somebody else does the rest. Where a transaction is open already, it is for
    whoever began that to commit, which on SQLite would be done here."""
    is_open = connection.vendor != "postgresql" and connection.in_atomic_block
    return not is_open and all(item.is_plain for item in items)


def _send(items: Sequence[PendingRun]) -> Sent | SentCommit:
    if connection.vendor == "postgresql":
        rows = [(each.write.state.id, row) for each in items for row in each.rows]
        writes = [item.write for item in items]
        return send_runs(writes, cast("list[tuple[int, NewRow]]", rows))
    return SentCommit(partial(_store_plain, items))


def _store_plain(items: Sequence[PendingRun]) -> set[int]:
    won = store_runs([item.write for item in items])
    stored = (item for item in items if item.write.state.id in won)
    insert_rows([row for item in stored for row in item.rows])
    return won


def _store(items: Sequence[PendingRun]) -> set[int]:
    """In a transaction with all that belongs to them."""
    with transaction.atomic():
        won = store_runs([item.write for item in items])
        done = [item for item in items if item.write.state.id in won]
        refuse_crowded_calls(item.write for item in done)
        _store_extras(
            [row for item in done for row in item.rows],
            [statement for item in done for statement in item.statements],
            [effect for item in done for effect in item.effects],
        )
    return won


def _list_undone(items: Iterable[PendingRun], crowded: NoRoom) -> list[Job]:
    """Nothing was stored. Calls that found no room are decided under the lock."""
    undone = []
    for item in items:
        for job, _, _ in item.answers:
            job.request.needs_lock |= item.write.state.id in crowded.run_ids
            undone.append(job)
    return undone


def _store_extras(
    rows: Sequence[Model | NewRow],
    statements: Sequence[Statement],
    effects: Sequence[Callable[[], object]],
) -> None:
    insert_rows(rows)
    for statement in statements:
        sql.execute(*statement)
    for effect in effects:
        effect()
