"""What an entry about a run does to it, and how a run is stored and read back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from guidance.core.runs.memory import CallTally, Memory
from guidance.core.runs.running_time import RunningTime
from guidance.core.runs.trace import StepTrace, Trace
from guidance.core.runs.usage import Budget, Usage
from guidance.core.turns.memory import TurnMemory, TurnTrace
from ledger.chain import GENESIS
from ledger.entry_types import apply_entry
from ledger.models import Run
from ledger.state import (
    COLUMNS,
    RARE_COLUMNS,
    RunState,
    build_state,
    build_unstarted_state,
    has_same_rare_values,
    list_column_values,
)
from tests.support.run_states import AT, build_open_review, build_run

LATER = AT + timedelta(hours=1)
TURN = TurnTrace(called_tools=True, content="c", tools=None)
FULL = build_run(
    status="paused",
    status_reason="Why?",
    budget=Budget(tokens=1, tool_calls=2, time_ms=3, cost_micros=4),
    used=Usage(tokens=5, tool_calls=6, time_ms=7, cost_micros=8),
    memory=Memory(
        steps=12,
        rework_steps=9,
        last_step=11,
        last_checkpoint_step=10,
        throttles=1,
        segment=2,
        trace=Trace([StepTrace(tokens=3, rework=True, signature="s", failed_calls=1)]),
        calls=CallTally(granted=1, settled=2, failed=3, weight=0.5),
    ),
    turns=TurnMemory(retries=1, reminded_todos=2, segment=3, turns=(TURN,)),
    observed=True,
    last_decision="pause",
    open_reviews=(
        build_open_review("a", "confirmation", version=3, on_expiry="stop"),
        build_open_review("b", "question"),
        build_open_review("c", "confirmation"),
    ),
    head_seq=13,
    head_hash="f" * 64,
    updated_at=LATER,
)


def store(state: RunState) -> Run:
    """The row that the writer would leave."""
    columns = dict(zip(dict(COLUMNS), list_column_values(state), strict=True))
    return Run(
        pk=state.id,
        code=state.code,
        project_id=state.project_id,
        agent_id=state.agent_id,
        policy_id=state.policy_id,
        **columns,
    )


@pytest.mark.parametrize(
    "state",
    [
        FULL,
        build_run(),
        replace(FULL, status="failed", finished_at=LATER, open_reviews=()),
        replace(FULL, turns=TurnMemory()),
        replace(FULL, observed=False),
    ],
    ids=["full", "bare", "ended", "no turns", "not observed"],
)
def test_a_run_is_read_back_as_it_was_stored(state: RunState) -> None:
    assert build_state(store(state)) == state


def test_the_columns_have_the_names_of_what_they_hold() -> None:
    row = store(FULL)
    names = ("tokens", "tool_calls", "time_ms", "cost_micros")
    assert [getattr(row, f"{name}_limit") for name in names] == [1, 2, 3, 4]
    assert [getattr(row, f"{name}_used") for name in names] == [5, 6, 7, 8]
    counts = (row.steps, row.rework_steps, row.last_step, row.last_checkpoint_step)
    assert counts == (12, 9, 11, 10)
    assert (row.status, row.status_reason) == ("paused", "Why?")
    assert (row.head_seq, row.head_hash) == (13, "f" * 64)
    assert (row.updated_at, row.finished_at) == (LATER, None)
    assert row.last_decision == "pause"


RARE = len(RARE_COLUMNS)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"used": Usage(tokens=9), "memory": Memory(), "last_decision": "continue"},
        {"head_seq": 14, "head_hash": "0" * 64, "updated_at": AT},
        {"status": "running"},
        {"status_reason": ""},
        {"budget": Budget(tokens=1, tool_calls=2, time_ms=3, cost_micros=5)},
        {"budget": Budget(tokens=1, tool_calls=2, time_ms=3, cost_micros=4)},
        {"open_reviews": FULL.open_reviews[1:]},
        {"open_reviews": (*FULL.open_reviews,)},
        {"finished_at": LATER},
        {"running_time": RunningTime(before_ms=1, since=AT)},
        {"running_time": None},
    ],
    ids=str,
)
def test_what_most_steps_leave_as_it_is(changes: dict[str, Any]) -> None:
    before = replace(FULL, running_time=RunningTime(before_ms=0, since=AT))
    after = replace(before, **changes)
    same = list_column_values(after)[-RARE:] == list_column_values(before)[-RARE:]
    assert has_same_rare_values(after, before) == same


def test_what_is_not_there_is_not_written_down() -> None:
    """Runs that were stored before there were turns compare the same."""
    memory = store(build_run()).memory
    assert "turns" not in memory
    assert "observed" not in memory


def test_before_its_first_entry_nothing_of_the_row_is_believed() -> None:
    ended = replace(FULL, status="failed", finished_at=LATER)
    state = build_unstarted_state(store(ended))
    fresh = build_run(
        status="failed",
        status_reason="Why?",
        head_seq=0,
        head_hash=FULL.head_hash,
        updated_at=LATER,
    )
    assert state == fresh


def test_a_run_starts_with_what_its_entry_says_and_nothing_else() -> None:
    budget: dict[str, Any] = {
        "tokens": 5,
        "tool_calls": None,
        "time_ms": 6,
        "cost_micros": None,
    }
    after = apply_entry(FULL, "run.started", {"budget": budget}, LATER)
    assert (after.status, after.status_reason) == ("running", "")
    assert after.budget == Budget(**budget)
    assert (after.memory, after.turns) == (Memory(), TurnMemory())
    assert after.observed is False
    told = apply_entry(FULL, "run.started", {"budget": {}, "observed": True}, LATER)
    assert told.observed is True


@pytest.mark.parametrize(
    ("entry_type", "payload", "status", "reason", "final"),
    [
        ("run.finished", {"outcome": "completed"}, "completed", "", True),
        ("run.finished", {"outcome": "failed", "summary": "s"}, "failed", "s", True),
        ("run.stopped", {"reason": "r"}, "stopped", "r", False),
        ("run.aborted", {"reason": "r"}, "aborted", "r", True),
        ("run.abandoned", {"reason": "r"}, "abandoned", "r", True),
    ],
)
def test_a_run_ends_as_its_entry_says(
    entry_type: str, payload: dict[str, Any], status: str, reason: str, final: bool
) -> None:
    after = apply_entry(FULL, entry_type, payload, LATER)
    ended = LATER if final else None
    expected = replace(FULL, status=status, status_reason=reason, finished_at=ended)
    assert after == expected
    assert after.closed


def test_a_reopened_run_keeps_its_totals_alone() -> None:
    stopped = replace(FULL, status="stopped", open_reviews=())
    budget: dict[str, Any] = {
        "tokens": 50,
        "tool_calls": 2,
        "time_ms": 3,
        "cost_micros": None,
    }
    payload = {"reason": "Go on", "budget": budget}

    after = apply_entry(stopped, "run.reopened", payload, LATER)

    assert (after.status, after.status_reason) == ("running", "Go on")
    assert (after.finished_at, after.closed) == (None, False)
    assert after.budget == Budget(**budget)
    assert after.used == FULL.used
    assert after.memory == FULL.memory.start_fresh()
    assert after.turns == TurnMemory()


def test_a_checkpoint_is_remembered_and_a_redacted_one_is_none() -> None:
    saved = apply_entry(FULL, "checkpoint.saved", {"step": 11}, LATER)
    assert saved == replace(FULL, memory=FULL.memory._replace(last_checkpoint_step=11))
    assert apply_entry(FULL, "checkpoint.redacted", {}, LATER) == FULL


def test_what_a_run_says_of_itself() -> None:
    assert FULL.reserved_calls == 2
    assert FULL.open_review("b") == FULL.open_reviews[1]
    assert FULL.open_review("z") is None
    assert [each.code for each in FULL.without_review("a").open_reviews] == ["b", "c"]
    closed = {"stopped", "completed", "failed", "aborted", "abandoned"}
    for status in ("running", "paused", *closed):
        assert replace(FULL, status=status).closed is (status in closed)
    assert build_run().head_hash == GENESIS


def test_a_run_is_observed_where_its_label_says_so() -> None:
    assert Run(labels={"source": "opentelemetry", "a": "b"}).observed
    for labels in ({}, {"source": "other"}, {"from": "opentelemetry"}):
        assert not Run(labels=labels).observed
