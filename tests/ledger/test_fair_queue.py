"""Nobody waits behind all that another client has sent: not for a batch, not for a turn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from threading import Event
from typing import Any

import pytest

from common.ids import uuid7
from ledger.models import Run
from ledger.state import RunState
from ledger.writer import Change, Command, Writer
from ledger.writer.batch import Job
from ledger.writer.fair_queue import FairLine
from ledger.writer.thread import ALONE_AT_ONCE
from loop.inbox.notes import AddNote
from reviews.expiry import AbandonRun
from reviews.intake.checkpoints import SaveCheckpoint
from reviews.interventions import AbortRun
from reviews.models import Review
from reviews.rulings import Claim
from reviews.schemas import CheckpointIn
from tests.builders import Person, Robot


def test_sources_take_turns_and_each_keeps_its_order() -> None:
    line: FairLine[str] = FairLine()
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


@dataclass(kw_only=True)
class Wish(Command[None]):
    agent: str
    run_code: str = ""

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        raise AssertionError("The books of this test judge nothing.")


class PlainWish(Wish):
    locked = False


class Books:
    """Stands for the database: writes down what is done, and when told waits."""

    session = None

    def __init__(self) -> None:
        self.done: list[str] = []
        self.entered, self.open = Event(), Event()

    def one(self, job: Job) -> None:
        self._do(job)

    def many(self, jobs: list[Job]) -> list[Job]:
        for job in jobs:
            self._do(job)
        return []

    def _do(self, job: Job) -> None:
        wish: Any = job.command
        self.entered.set()
        assert self.open.wait(timeout=20)
        self.done.append(wish.agent)
        job.settle(None, None)


def put(writer: Writer, wish: Wish) -> Event:
    """Set as soon as it is answered."""
    answered = Event()
    writer._put(Job(wish, lambda _answer, _error: answered.set()))
    return answered


def test_a_flood_of_one_sender_holds_nobody_else_up() -> None:
    writer, books = Writer(), Books()
    writer._books = books  # type: ignore[assignment]
    flood = [put(writer, Wish(agent="flood")) for _ in range(200)]
    assert books.entered.wait(timeout=20)
    others = [Wish(agent="ruling"), PlainWish(agent="step"), Wish(agent="abort")]
    answered = [*flood, *(put(writer, other) for other in others)]
    books.open.set()
    assert all(event.wait(timeout=20) for event in answered)
    writer.close()

    # What is under way is finished, and a turn or two of the flood may come between.
    soon = 3 * ALONE_AT_ONCE
    for other in others:
        assert books.done.index(other.agent) <= soon, books.done[: soon + 3]
    assert len(books.done) == 203


def test_what_waits_is_finished_when_the_writer_closes() -> None:
    writer, books = Writer(), Books()
    writer._books = books  # type: ignore[assignment]
    books.open.set()
    answered = [put(writer, Wish(agent="a")) for _ in range(50)]

    writer.close()

    assert all(event.is_set() for event in answered)


def test_every_sender_has_a_turn_of_their_own(robo: Robot, alice: Person) -> None:
    review = Review(run=Run(code=uuid7()))
    sent: list[Command[Any]] = [
        SaveCheckpoint(run_code="", agent=robo.principal, body=CheckpointIn(step=0)),
        AbortRun(run_code="", person=alice.principal, reason=""),
        Claim(review=review, person=alice.principal),
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
