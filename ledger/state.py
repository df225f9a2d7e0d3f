"""A run as the writer judges it: the mutable part of its row, as one frozen value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from guidance.core.canonical import to_canonical_json
from guidance.core.runs.agent_notes import NO_NOTES, UnreadNotes
from guidance.core.runs.memory import Memory
from guidance.core.runs.running_time import RunningTime
from guidance.core.runs.usage import Budget, Usage
from guidance.core.turns.memory import TurnMemory
from ledger.models import FINAL, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenReview:
    """What the run must know of a review that waits: enough to judge a ruling.

    `approved_by` are those who have approved it, where `approvals_needed` is more than one,
    `amended_by` those who have changed what is to run.
    """

    code: str
    kind: str
    version: int
    digest: str
    due_at: datetime
    on_expiry: str
    approvals_needed: int = 1
    approved_by: tuple[str, ...] = ()
    amended_by: tuple[str, ...] = ()

    def to_json(self) -> list[Any]:
        """What is not there is not written down: runs stored before read the same."""
        several = [self.approvals_needed, [*self.approved_by], [*self.amended_by]]
        return [
            self.code,
            self.kind,
            self.version,
            self.digest,
            self.due_at.isoformat(),
            self.on_expiry,
            *(several if self.approvals_needed > 1 else ()),
        ]

    @classmethod
    def from_json(cls, row: list[Any]) -> OpenReview:
        code, kind, version, digest, due_at, on_expiry, *several = row
        needed, approved_by, amended_by = several or (1, (), ())
        return cls(
            code=code,
            kind=kind,
            version=version,
            digest=digest,
            due_at=datetime.fromisoformat(due_at),
            on_expiry=on_expiry,
            approvals_needed=needed,
            approved_by=tuple(approved_by),
            amended_by=tuple(amended_by),
        )


# Without slots: see `copy_with`.
@dataclass(frozen=True, kw_only=True)
class RunState:
    id: int
    code: str
    project_id: int
    agent_id: int
    policy_id: int
    # The ids of the runs above it, from the top.
    ancestors: tuple[int, ...]
    labels: Mapping[str, str]
    status: str
    status_reason: str
    budget: Budget
    used: Usage
    memory: Memory
    turns: TurnMemory
    # Told by telemetry after the fact: judged like any other, but never held.
    observed: bool
    # None where no clock was kept: observed runs, the server's own, and those of before.
    running_time: RunningTime | None
    last_decision: str
    # When the last answer asked it to wait, if that is what it did.
    throttled_at: datetime | None
    open_reviews: tuple[OpenReview, ...]
    # What people wrote to its agent, until it has read that.
    notes: UnreadNotes
    head_seq: int
    head_hash: str
    updated_at: datetime
    finished_at: datetime | None

    def copy_with(self, **changes: Any) -> RunState:
        """As `dataclasses.replace`, in a tenth of its time: every step takes two of them."""
        values = self.__dict__ | changes
        assert len(values) == len(self.__dict__)
        copied = object.__new__(RunState)
        object.__setattr__(copied, "__dict__", values)
        return copied

    @property
    def closed(self) -> bool:
        return self.status == "stopped" or self.status in FINAL

    @property
    def reserved_calls(self) -> int:
        """Calls that a person may still let run: their place in the budget is kept."""
        return sum(review.kind == "confirmation" for review in self.open_reviews)

    @property
    def idle(self) -> bool:
        """Whether its session waits for a prompt, and no time counts."""
        return self.running_time is not None and self.running_time.idle

    def measure_running_ms(self, at: datetime) -> int | None:
        """How long it has been running, by the server's clock; None where none was kept."""
        return None if self.running_time is None else self.running_time.measure(at)

    def measure_waited_ms(self, at: datetime) -> int | None:
        """How long ago it was throttled; None where the last answer was another one."""
        if self.throttled_at is None:
            return None
        return (at - self.throttled_at) // timedelta(milliseconds=1)

    def compute_time_used(self, at: datetime) -> int:
        """What was reported or what was measured, whichever is more."""
        return max(self.used.time_ms, self.measure_running_ms(at) or 0)

    def is_time_over(self, at: datetime) -> bool:
        limit = self.budget.time_ms
        return limit is not None and self.compute_time_used(at) >= limit

    @property
    def spent(self) -> Usage:
        """What it uses of limits that it shares: calls that wait are counted, too."""
        tokens, calls, _, cost_micros = self.used
        if self.open_reviews:
            calls += self.reserved_calls
        return Usage(tokens, calls, 0, cost_micros)

    def with_status(self, status: str, *, reason: str, at: datetime) -> RunState:
        """The same run in another status; a final one is given its end."""
        return self.copy_with(
            status=status,
            status_reason=reason,
            finished_at=at if status in FINAL else None,
        )._with_running_time(status, idle=self.idle, at=at)

    def with_idle(self, idle: bool, *, at: datetime) -> RunState:
        """The same run, whose session waits for a prompt, or works."""
        if idle == self.idle:
            return self
        return self._with_running_time(self.status, idle=idle, at=at)

    def _with_running_time(self, status: str, *, idle: bool, at: datetime) -> RunState:
        if self.running_time is None:
            return self
        moved = self.running_time.move(running=status == "running", idle=idle, at=at)
        return (
            self if moved == self.running_time else self.copy_with(running_time=moved)
        )

    def with_policy(self, policy_id: int) -> RunState:
        """The same run, judged by another version from here on."""
        return self.copy_with(policy_id=policy_id)

    def open_review(self, code: str) -> OpenReview | None:
        return next((item for item in self.open_reviews if item.code == code), None)

    def with_review(self, review: OpenReview) -> RunState:
        """The same run with this review as it stands now."""
        reviews = (
            review if each.code == review.code else each for each in self.open_reviews
        )
        return self.copy_with(open_reviews=tuple(reviews))

    def without_review(self, code: str) -> RunState:
        rest = tuple(item for item in self.open_reviews if item.code != code)
        return self.copy_with(open_reviews=rest)


# The columns of a run that every step changes, with their PostgreSQL array types.
STEP_COLUMNS: tuple[tuple[str, str], ...] = (
    ("tokens_used", "bigint"),
    ("tool_calls_used", "bigint"),
    ("time_ms_used", "bigint"),
    ("cost_micros_used", "bigint"),
    ("steps", "bigint"),
    ("rework_steps", "bigint"),
    ("last_step", "bigint"),
    ("last_checkpoint_step", "bigint"),
    ("last_decision", "text"),
    ("memory", "text"),
    ("head_seq", "bigint"),
    ("head_hash", "text"),
    ("updated_at", "timestamptz"),
)
# Those that most steps leave as they are. Some are in indexes, which SQLite writes anew
# whenever such a column is set, be it to what it was (bench steps).
RARE_COLUMNS: tuple[tuple[str, str], ...] = (
    ("status", "text"),
    ("status_reason", "text"),
    ("tokens_limit", "bigint"),
    ("tool_calls_limit", "bigint"),
    ("time_ms_limit", "bigint"),
    ("cost_micros_limit", "bigint"),
    ("open_reviews", "text"),
    ("finished_at", "timestamptz"),
    ("running_ms", "bigint"),
    ("running_since", "timestamptz"),
    ("time_over_at", "timestamptz"),
)
# All that the writer sets.
COLUMNS = (*STEP_COLUMNS, *RARE_COLUMNS)


def list_column_values(state: RunState) -> tuple[Any, ...]:
    """The values of COLUMNS, in their order."""
    return (*list_step_values(state), *_list_rare_values(state))


def list_step_values(state: RunState) -> tuple[Any, ...]:
    """The values of STEP_COLUMNS, in their order."""
    used, memory = state.used, state.memory
    return (
        used.tokens,
        used.tool_calls,
        used.time_ms,
        used.cost_micros,
        memory.steps,
        memory.rework_steps,
        memory.last_step,
        memory.last_checkpoint_step,
        state.last_decision,
        _write_memory(state),
        state.head_seq,
        state.head_hash,
        state.updated_at,
    )


def _list_rare_values(state: RunState) -> tuple[Any, ...]:
    budget, time = state.budget, state.running_time
    return (
        state.status,
        state.status_reason,
        budget.tokens,
        budget.tool_calls,
        budget.time_ms,
        budget.cost_micros,
        _write_reviews(state.open_reviews),
        state.finished_at,
        time and time.before_ms,
        time and time.since,
        time and time.compute_end(budget.time_ms),
    )


def has_same_rare_values(state: RunState, before: RunState) -> bool:
    """Whether nothing of RARE_COLUMNS has changed."""
    return _list_rare_parts(state) == _list_rare_parts(before)


def _list_rare_parts(state: RunState) -> tuple[Any, ...]:
    """What they are made of; what was not touched is the same object."""
    said = (state.status, state.status_reason, state.finished_at)
    return (*said, state.budget, state.open_reviews, state.running_time)


NO_TURNS = TurnMemory()


def _write_memory(state: RunState) -> str:
    """What is not there is not written down: runs stored before read the same."""
    more = dict[str, Any]()
    if state.turns is not NO_TURNS and state.turns != NO_TURNS:
        more["turns"] = state.turns.to_json()
    if state.observed:
        more["observed"] = True
    if state.idle:
        more["idle"] = True
    if state.throttled_at is not None:
        more["throttled_at"] = state.throttled_at.isoformat()
    if state.notes:
        more["notes"] = state.notes.to_json()
    return state.memory.write(more)


def _write_reviews(reviews: Sequence[OpenReview]) -> str:
    return to_canonical_json([each.to_json() for each in reviews]) if reviews else "[]"


def parse_lineage(lineage: str) -> tuple[int, ...]:
    return tuple(int(part) for part in lineage.split("/") if part)


def format_lineage(ancestors: Sequence[int]) -> str:
    return "".join(f"{each}/" for each in ancestors)


def build_state(run: Run) -> RunState:
    memory = json.loads(run.memory)
    return RunState(
        id=run.pk,
        code=str(run.code),
        project_id=run.project_id,
        agent_id=run.agent_id,
        policy_id=run.policy_id,
        ancestors=parse_lineage(run.lineage),
        labels=run.labels,
        status=run.status,
        status_reason=run.status_reason,
        budget=build_budget(run),
        used=Usage(
            tokens=run.tokens_used,
            tool_calls=run.tool_calls_used,
            time_ms=run.time_ms_used,
            cost_micros=run.cost_micros_used,
        ),
        memory=Memory.from_json(memory),
        turns=TurnMemory.from_json(memory["turns"]) if "turns" in memory else NO_TURNS,
        observed=memory.get("observed", False),
        running_time=read_running_time(run, idle=memory.get("idle", False)),
        last_decision=run.last_decision,
        throttled_at=_read_moment(memory.get("throttled_at")),
        open_reviews=tuple(
            OpenReview.from_json(row) for row in json.loads(run.open_reviews)
        ),
        notes=UnreadNotes.from_json(memory["notes"]) if "notes" in memory else NO_NOTES,
        head_seq=run.head_seq,
        head_hash=run.head_hash,
        updated_at=run.updated_at,
        finished_at=run.finished_at,
    )


def _read_moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def build_budget(run: Run) -> Budget:
    return Budget(
        tokens=run.tokens_limit,
        tool_calls=run.tool_calls_limit,
        time_ms=run.time_ms_limit,
        cost_micros=run.cost_micros_limit,
    )


def read_running_time(run: Run, *, idle: bool = False) -> RunningTime | None:
    if run.running_ms is None:
        return None
    return RunningTime(before_ms=run.running_ms, since=run.running_since, idle=idle)


def compute_time_used(run: Run, at: datetime) -> int:
    """What was reported or what was measured, whichever is more."""
    time = read_running_time(run)
    return max(run.time_ms_used, 0 if time is None else time.measure(at))


def build_unstarted_state(run: Run) -> RunState:
    """The run before its first entry: what never changes, and nothing else.

    What the row remembers is not read: it may be what was tampered with.
    """
    return RunState(
        id=run.pk,
        code=str(run.code),
        project_id=run.project_id,
        agent_id=run.agent_id,
        policy_id=run.policy_id,
        ancestors=parse_lineage(run.lineage),
        labels=run.labels,
        status=run.status,
        status_reason=run.status_reason,
        budget=Budget(),
        used=Usage(),
        memory=Memory(),
        turns=NO_TURNS,
        observed=False,
        running_time=None,
        last_decision="",
        throttled_at=None,
        open_reviews=(),
        notes=NO_NOTES,
        head_seq=0,
        head_hash=run.head_hash,
        updated_at=run.updated_at,
        finished_at=None,
    )
