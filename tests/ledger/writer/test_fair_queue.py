"""Nobody waits behind all that another client has sent: not for a batch, not for a turn."""

from __future__ import annotations

from queue import Queue
from typing import Any

import pytest

from common.errors import Unavailable
from common.ids import uuid7
from gateway.schemas.runs import CheckpointIn
from gateway.use_cases.checkpoints import SaveCheckpoint
from ledger.models import Run
from ledger.writer import ChangeRequest, Writer
from ledger.writer.fair_queue import FairQueue
from ledger.writer.jobs import Job
from ledger.writer.thread import LOCKED_AT_ONCE
from loop.inbox.notes import AddNote
from reviews.models import Review
from reviews.rulings.expiry import AbandonRun
from reviews.rulings.run_control import AbortRun
from reviews.teamwork.claims import ClaimReview
from tests.ledger.writer.fakes import FakeCommitter, PlainRequest, Request, put
from tests.support.builders import Person, Robot


def test_sources_take_turns_and_each_keeps_its_order() -> None:
    line: FairQueue[str] = FairQueue()
    for number in range(4):
        line.put("many", f"many-{number}")
    line.put("few", "few-0")
    line.put("one", "one-0")
    line.put("few", "few-1")

    taken = [line.take() for _ in range(len(line))]

    assert taken == [
        *("many-0", "few-0", "one-0"),
        *("many-1", "few-1"),
        *("many-2", "many-3"),
    ]
    assert not line
    with pytest.raises(LookupError):
        line.take()


def test_a_flood_of_one_sender_holds_nobody_else_up() -> None:
    writer, committer = Writer(), FakeCommitter()
    writer._committer = committer  # type: ignore[assignment]
    flood = [put(writer, Request(agent="flood")) for _ in range(200)]
    assert committer.entered.wait(timeout=60)
    others = [
        Request(agent="ruling"),
        PlainRequest(agent="step"),
        Request(agent="abort"),
    ]
    answered = [*flood, *(put(writer, other) for other in others)]
    committer.open.set()
    assert all(event.wait(timeout=60) for event in answered)
    writer.close()

    # What is under way is finished, and a turn or two of the flood may come between.
    soon = 3 * LOCKED_AT_ONCE
    for other in others:
        assert committer.done.index(other.agent) <= soon, committer.done[: soon + 3]
    assert len(committer.done) == 203


def test_what_waits_is_finished_when_the_writer_closes() -> None:
    writer, committer = Writer(), FakeCommitter()
    writer._committer = committer  # type: ignore[assignment]
    committer.open.set()
    answered = [put(writer, Request(agent="a")) for _ in range(50)]

    writer.close()

    assert all(event.is_set() for event in answered)
    assert not writer._thread.is_alive()


def test_who_comes_after_the_end_was_announced_is_told_so() -> None:
    writer, committer = Writer(), FakeCommitter()
    writer._committer = committer  # type: ignore[assignment]
    put(writer, Request(agent="a"))
    assert committer.entered.wait(timeout=60)
    writer._jobs.put(None)
    refused: Queue[BaseException | None] = Queue()
    late = Request(agent="late")
    writer._put(Job(late, lambda _answer, error: refused.put(error)))

    committer.open.set()
    error = refused.get(timeout=60)

    assert isinstance(error, Unavailable)
    assert committer.done == ["a"]


def test_every_sender_has_a_turn_of_their_own(robo: Robot, alice: Person) -> None:
    review = Review(run=Run(code=uuid7()))
    sent: list[ChangeRequest[Any]] = [
        SaveCheckpoint(run_code="", agent=robo.principal, body=CheckpointIn(step=0)),
        AbortRun(run_code="", person=alice.principal, reason=""),
        ClaimReview(review=review, person=alice.principal),
        AddNote(run_code="", actor=robo.principal.actor, text="", data={}),
        AbandonRun(run_code=""),
    ]

    assert [command.source for command in sent] == [
        robo.principal,
        alice.principal,
        alice.principal,
        robo.principal.actor,
        None,
    ]
