"""What an entry about a review does to its run, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from guidance.core.runs.memory import CallTally, Memory
from guidance.core.runs.usage import Usage
from guidance.core.turns.memory import TurnMemory
from ledger.entry_types import apply_entry
from ledger.state import OpenReview, RunState
from tests.support.run_states import AT, build_open_review, build_run

BUSY = Memory(steps=9, last_step=9, throttles=2, segment=4, calls=CallTally(granted=1))
TURNS = TurnMemory(retries=2, reminded_todos=3, segment=5)


def wait_for(*reviews: OpenReview, **parts: Any) -> RunState:
    given = {"status": "paused", "status_reason": "Why?", "memory": BUSY}
    return build_run(open_reviews=reviews, turns=TURNS, **given | parts)


def test_a_review_that_opens_pauses_its_run_and_stands_behind_the_others() -> None:
    first = build_open_review("a", "confirmation")
    run = wait_for(first, status="running", status_reason="")
    opened = build_open_review("b", "question", version=1)
    payload = {
        "review": "b",
        "kind": "question",
        "title": "Which?",
        "version": 1,
        "content_digest": opened.digest,
        "due_at": opened.due_at.isoformat(),
        "on_expiry": opened.on_expiry,
    }

    after = apply_entry(run, "review.opened", payload, AT)
    assert after.open_reviews == (first, opened)
    assert (after.status, after.status_reason) == ("paused", "Which?")
    assert after.finished_at is None

    action = apply_entry(run, "review.opened", {**payload, "kind": "loop_action"}, AT)
    assert (action.status, action.status_reason) == ("running", "")
    assert len(action.open_reviews) == 2


@pytest.mark.parametrize(
    ("kind", "more", "turns", "segment", "calls"),
    [
        ("pause", {}, replace(TURNS, retries=0, segment=0), 0, 0),
        ("question", {}, replace(TURNS, retries=0, segment=0), 4, 0),
        ("request", {}, TURNS, 4, 0),
        ("confirmation", {"grant": None}, TURNS, 4, 0),
        ("confirmation", {"grant": {"id": "g"}}, TURNS, 4, 1),
        ("exhausted", {}, TURNS, 4, 0),
    ],
)
def test_a_ruling_lets_the_run_go_on_with_what_it_answers_forgotten(
    kind: str, more: dict[str, Any], turns: TurnMemory, segment: int, calls: int
) -> None:
    run = wait_for(build_open_review("a", kind), used=Usage(tool_calls=7))
    payload = {"review": "a", "kind": kind, "action": "approve", **more}

    after = apply_entry(run, "review.ruled", payload, AT)

    assert (after.status, after.status_reason) == ("running", "")
    assert after.open_reviews == ()
    assert after.turns == turns
    assert (after.memory.segment, after.memory.steps) == (segment, 9)
    assert after.memory.throttles == (0 if segment == 0 else 2)
    assert after.used.tool_calls == 7 + calls
    assert after.memory.calls == CallTally(granted=1 + calls)


def test_an_abort_waits_for_the_entry_that_closes_the_run() -> None:
    run = wait_for(build_open_review("a"))
    payload = {"review": "a", "kind": "pause", "action": "abort"}

    after = apply_entry(run, "review.ruled", payload, AT)

    assert after == replace(run, open_reviews=())


@pytest.mark.parametrize("entry_type", ["review.ruled", "review.withdrawn"])
def test_a_run_goes_on_only_when_nothing_waits_and_if_it_was_paused(
    entry_type: str,
) -> None:
    first, second = build_open_review("a", "request"), build_open_review("b", "request")
    payload = {"review": "a", "kind": "request", "action": "approve"}

    still = apply_entry(wait_for(first, second), entry_type, payload, AT)
    assert (still.status, still.open_reviews) == ("paused", (second,))

    for status in ("stopped", "running"):
        run = wait_for(first, status=status)
        after = apply_entry(run, entry_type, payload, AT)
        assert (after.status, after.status_reason) == (status, "Why?")

    after = apply_entry(wait_for(first), entry_type, payload, AT)
    assert (after.status, after.open_reviews) == ("running", ())


@pytest.mark.parametrize("entry_type", ["review.expired", "review.superseded"])
def test_a_review_that_ends_by_itself_does_not_let_the_run_go_on(
    entry_type: str,
) -> None:
    first, second = build_open_review("a"), build_open_review("b")
    run = wait_for(first, second)
    after = apply_entry(run, entry_type, {"review": "b"}, AT)
    assert after == replace(run, open_reviews=(first,))


@pytest.mark.parametrize(
    "entry_type",
    [
        *("review.claimed", "review.released", "review.commented", "review.late"),
        *("review.held", "review.taken_back", "review.unsent"),
        *("permission.revoked", "exemption.made", "exemption.revoked"),
        "warning.acknowledged",
    ],
)
def test_what_people_note_leaves_the_run_as_it_is(entry_type: str) -> None:
    run = wait_for(build_open_review("a"))
    assert apply_entry(run, entry_type, {"review": "a"}, AT + timedelta(1)) == run
