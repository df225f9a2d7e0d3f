"""A person's program: the queue, rulings, runs and the ledger."""

from __future__ import annotations

from dataclasses import replace

import pytest
from checkrail import (
    AlreadyRuled,
    Checkrail,
    Forbidden,
    NotFound,
    StaleVersion,
    Unauthenticated,
    verify_lines,
)
from checkrail.people import Desk

from tests.support.builders import Person
from tests.support.live import Live


def test_the_queue_is_read_and_ruled_on_as_it_was_read(
    rail: Checkrail, desk: Desk, live: Live, alice: Person
) -> None:
    with rail.run("Asks") as run:
        review = run.open_review("question", "Which branch?", options=["main"])
        (listed,) = desk.reviews(kind="question", run=run.id)
        assert listed.rulings == ("answer", "abort")
        assert desk.review(review.id).history[0].type == "review.opened"
        assert desk.claim(listed).assignee is not None
        assert desk.release(listed.id).assignee is None
        desk.comment(listed, "I look into it")
        with Desk(live.url, alice.token) as other:
            other.answer(review.id, "main")
        with pytest.raises(AlreadyRuled) as late:
            desk.answer(listed, "dev")
        assert late.value.ruling is not None
        assert late.value.ruling.answer == "main"
        assert run.wait(review).answer == "main"
        assert list(desk.reviews(run=run.id)) == []
        assert [r.id for r in desk.reviews(state=None, run=run.id)] == [review.id]


def test_a_review_that_was_not_read_as_it_is_cannot_be_ruled_on(
    rail: Checkrail, desk: Desk
) -> None:
    run = rail.run("Asks")
    run.open_review("request", "May I?")
    (review,) = desk.reviews(run=run.id)
    with pytest.raises(StaleVersion):
        desk.approve(replace(review, version=9))
    desk.approve(review)
    run.close()


def test_runs_are_listed_ended_and_reopened(
    rail: Checkrail, desk: Desk, live: Live, alice: Person
) -> None:
    runs = [rail.run(f"Number {n}", labels={"n": str(n)}) for n in range(3)]
    assert [run.task for run in desk.runs(label="n:1")] == ["Number 1"]
    assert len(list(desk.runs(status="running"))) == 3
    assert desk.tell(runs[0].id, "Slowly", tags=["pace"]).state == "waiting"
    assert [each.text for each in desk.list_notes(runs[0].id)] == ["Slowly"]
    assert desk.abort_run(runs[0].id, reason="Not needed").status == "aborted"
    runs[1].report_step(coherence=0.1)
    with pytest.raises(Forbidden):
        desk.reopen_run(runs[1].id, reason="Go on")
    with Desk(live.url, alice.token) as manager:
        reopened = manager.reopen_run(
            runs[1].id, reason="Go on", budget={"cost_usd": 20}
        )
    assert (reopened.status, reopened.budget.cost_usd.limit) == ("running", "20.00")
    for run in runs:
        run.close()


def test_lists_go_on_over_their_pages(
    rail: Checkrail, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checkrail.people.PAGE", 2)
    runs = [rail.run(f"Number {n}") for n in range(5)]
    assert [run.task for run in desk.runs()] == [
        f"Number {n}" for n in range(4, -1, -1)
    ]
    for run in runs:
        run.close()


def test_the_ledger_is_followed_and_verified(rail: Checkrail, desk: Desk) -> None:
    with rail.run("Is followed") as run:
        decision = run.step()
        tail = desk.tail(run.id, seconds=0.01)
        assert [next(tail).type for _ in range(2)] == ["run.started", "step.judged"]
        run.step()
        assert next(tail).seq == 3
    assert [entry.type for entry in tail] == ["run.finished"]
    receipt = (decision.receipt.seq, decision.receipt.hash)
    checked = verify_lines(desk.ledger(run.id), receipt=receipt)
    assert (checked.entries, checked.anchored) == (4, True)
    verification = desk.verify(run.id)
    assert (verification.ok, verification.head.hash) == (True, checked.head)


def test_strangers_are_told_so(rail: Checkrail, live: Live, charlie: Person) -> None:
    with rail.run("Is not theirs") as run, Desk(live.url, charlie.token) as stranger:
        assert list(stranger.runs()) == []
        with pytest.raises(NotFound):
            stranger.run(run.id)
        with pytest.raises(NotFound):
            list(stranger.ledger(run.id))
    with (
        Desk(live.url, "crt_nobody") as nobody,
        pytest.raises(Unauthenticated, match="key"),
    ):
        list(nobody.reviews())
