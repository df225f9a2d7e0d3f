"""The one thread that writes: no caller, listener or error keeps it from the others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from queue import Queue
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import (
    DataError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
)
from psycopg.errors import LockNotAvailable

from common.errors import Unavailable
from ledger.idempotency import build_own_key
from ledger.writer import Committed, Writer, thread
from ledger.writer.jobs import Job
from tests.ledger.writer.fakes import (
    FailingCommitter,
    FakeCommitter,
    PlainRequest,
    Request,
    put,
)
from tests.support.threads import at_once

WAIT_S = 20
COMMIT = Committed(
    projects=frozenset(), changed_run_ids=frozenset(), waited_run_ids=frozenset()
)


@pytest.fixture
def writer(database: None) -> Iterator[Writer]:
    made = Writer()
    yield made
    made.close()


def serve_by(writer: Writer, committer: Any) -> Any:
    writer._committer = committer
    return committer


def ask(writer: Writer, request: Request) -> BaseException | None:
    """Have it done; returns the error that it is answered with."""
    answers: Queue[BaseException | None] = Queue()
    writer._put(Job(request, lambda _answer, error: answers.put(error)))
    return answers.get(timeout=WAIT_S)


def build_lock_error() -> OperationalError:
    error = OperationalError("canceling statement due to lock timeout")
    error.__cause__ = LockNotAvailable()
    return error


def test_who_waits_for_a_turn_counts_among_those_who_wait(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many of them one sender has, memory has an end."""
    committer = serve_by(writer, FakeCommitter())
    third = Event()

    def wait_at_the_third(job: Job) -> None:
        if len(committer.done) == 2:
            third.set()
            assert committer.go_on.wait(WAIT_S)
        FakeCommitter._do(committer, job)

    committer.go_on = Event()
    committer.commit_one = wait_at_the_third
    waiting = [put(writer, Request(agent="flood")) for _ in range(5)]
    committer.open.set()
    assert third.wait(WAIT_S)
    assert writer._jobs.empty()

    monkeypatch.setattr(thread, "QUEUE_LIMIT", 2)
    with pytest.raises(Unavailable, match="Too many requests"):
        put(writer, Request(agent="one more"))

    committer.go_on.set()
    assert all(each.wait(WAIT_S) for each in waiting)


@pytest.mark.parametrize("kind", [Request, PlainRequest])
async def test_a_caller_that_went_away_keeps_no_answer_from_the_others(
    writer: Writer, kind: type[Request]
) -> None:
    committer = serve_by(writer, FakeCommitter())
    first = asyncio.ensure_future(writer.perform(kind(agent="first")))
    await asyncio.to_thread(committer.entered.wait, WAIT_S)
    gone, other = (
        asyncio.ensure_future(writer.perform(kind(agent=name)))
        for name in ("gone", "other")
    )
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)

    committer.open.set()

    async with asyncio.timeout(WAIT_S):
        await asyncio.gather(first, other)
    assert committer.done == ["first", "gone", "other"]


async def test_who_comes_after_the_end_was_announced_need_not_block(
    writer: Writer,
) -> None:
    committer = serve_by(writer, FakeCommitter())
    first = asyncio.ensure_future(writer.perform(Request(agent="first")))
    await asyncio.to_thread(committer.entered.wait, WAIT_S)
    writer._jobs.put(None)
    late = asyncio.ensure_future(writer.perform(Request(agent="late")))
    await asyncio.sleep(0)

    committer.open.set()

    async with asyncio.timeout(WAIT_S):
        await first
        with pytest.raises(Unavailable, match="The server is stopping"):
            await late


def test_an_event_loop_that_was_closed_holds_nobody_up(writer: Writer) -> None:
    committer = serve_by(writer, FakeCommitter())
    loop = asyncio.new_event_loop()
    left = loop.create_task(writer.perform(PlainRequest(agent="left")))
    loop.run_until_complete(asyncio.to_thread(committer.entered.wait, WAIT_S))
    left._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()

    committer.open.set()

    assert ask(writer, Request(agent="next")) is None
    assert committer.done == ["left", "next"]


def test_listeners_are_called_in_their_order_and_none_for_another(
    writer: Writer,
) -> None:
    heard: list[str] = []

    def fail(_commit: Committed) -> None:
        heard.append("fails")
        raise RuntimeError("This one is broken.")

    before = len(writer._listeners)
    stop = [
        writer.listen(fail),
        writer.listen(lambda _: heard.append("last")),
        writer.listen(lambda _: heard.append("first"), first=True),
    ]

    writer._notify_listeners(COMMIT)
    assert heard == ["first", "fails", "last"]

    for each in stop:
        each()
    writer._notify_listeners(COMMIT)
    assert len(heard) == 3
    assert len(writer._listeners) == before


def test_the_listeners_of_the_process_are_told_by_every_writer(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Committed] = []
    monkeypatch.setattr(thread, "_always", [])
    thread.listen_always(heard.append)
    for number in (1, 2):
        made = Writer()
        made._notify_listeners(COMMIT)
        made.close()
        assert len(heard) == number


@pytest.mark.parametrize(
    ("error", "takes_no_writes"),
    [
        (OperationalError("disk full"), True),
        (InterfaceError("connection is closed"), True),
        (InternalError("read-only"), True),
        (IntegrityError("a key twice"), False),
        (DataError("no number"), False),
        (ValueError("of our own making"), False),
        (build_lock_error(), False),
    ],
    ids=str,
)
def test_what_a_failed_write_says_of_the_database(
    writer: Writer, error: Exception, takes_no_writes: bool
) -> None:
    serve_by(writer, FailingCommitter(error))
    ask(writer, Request(agent="a"))
    assert writer.failing is takes_no_writes


def test_a_database_that_failed_is_not_well_because_another_error_came(
    writer: Writer,
) -> None:
    serve_by(writer, FailingCommitter(OperationalError(), IntegrityError()))
    ask(writer, Request(agent="a"))
    assert [writer.failing] == [True]
    writer.recover()
    assert [writer.failing] == [False]
    serve_by(writer, FailingCommitter(OperationalError(), IntegrityError()))
    ask(writer, Request(agent="a"))
    assert [writer.failing] == [True]

    writer._notify_listeners(COMMIT)
    assert [writer.failing] == [False]


def test_who_was_answered_before_a_batch_failed_is_not_served_twice(
    writer: Writer,
) -> None:
    gate = serve_by(writer, FakeCommitter())
    first = put(writer, PlainRequest(agent="first"))
    assert gate.entered.wait(WAIT_S)
    answered = [put(writer, PlainRequest(agent=name)) for name in ("a", "b", "c")]
    committer = FailingCommitter(ValueError("It failed half-way."))
    committer.before = lambda jobs: jobs[0].settle(None, None)
    serve_by(writer, committer)
    gate.open.set()

    assert all(each.wait(WAIT_S) for each in (first, *answered))
    assert committer.tried == [["a", "b", "c"], ["b"], ["c"]]
    assert committer.forgot == 1


@pytest.mark.parametrize("kind", [Request, PlainRequest])
def test_what_cannot_be_written_is_tried_five_times_and_then_refused(
    writer: Writer, kind: type[Request]
) -> None:
    errors = [OperationalError("The line was cut.") for _ in range(9)]
    committer = serve_by(writer, FailingCommitter(*errors))

    refused = ask(writer, kind(agent="a"))

    assert isinstance(refused, Unavailable)
    assert refused.detail == "The ledger cannot be written just now."
    assert len(committer.tried) == 5


def test_an_error_of_our_own_making_is_not_tried_again(writer: Writer) -> None:
    error = ValueError("of our own making")
    committer = serve_by(writer, FailingCommitter(error))

    assert ask(writer, PlainRequest(agent="a")) is error
    assert len(committer.tried) == 1


@pytest.mark.parametrize("kind", [Request, PlainRequest])
def test_nobody_waits_twice_for_a_project_that_somebody_holds(
    writer: Writer, kind: type[Request]
) -> None:
    committer = serve_by(writer, FailingCommitter(build_lock_error()))

    refused = ask(writer, kind(agent="a"))

    assert isinstance(refused, Unavailable)
    assert refused.detail == "The project is busy."
    assert len(committer.tried) == 1


@pytest.mark.parametrize("keyed", [True, False])
def test_what_may_have_been_committed_is_repeated_only_with_a_key(
    writer: Writer, keyed: bool
) -> None:
    committer = serve_by(writer, FailingCommitter(OperationalError("cut")))

    def note_commit(jobs: Any) -> None:
        jobs[0].committing = True

    committer.before = note_commit
    key = build_own_key("k", agent_id=1) if keyed else None

    refused = ask(writer, Request(agent="a", idempotency=key))

    assert refused is None if keyed else isinstance(refused, Unavailable)
    assert len(committer.tried) == (2 if keyed else 1)


def test_a_connection_that_failed_is_given_up_and_the_last_one_too(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    spy = SimpleNamespace(close=lambda: closed.append("closed"), vendor="sqlite")
    monkeypatch.setattr(thread, "connection", spy)
    writer = Writer()
    serve_by(writer, FailingCommitter(ValueError("not the database's")))
    ask(writer, Request(agent="a"))
    assert closed == []

    serve_by(writer, FailingCommitter(OperationalError("cut")))
    ask(writer, Request(agent="a"))
    assert len(closed) == 1

    writer.close()
    assert len(closed) == 2


def test_a_write_is_timed_while_it_lasts_and_not_afterwards(writer: Writer) -> None:
    assert writer.busy_seconds == 0
    committer = serve_by(writer, FakeCommitter())
    answered = put(writer, Request(agent="a"))
    assert committer.entered.wait(WAIT_S)
    before = writer.busy_seconds
    assert writer.busy_seconds > before > 0
    committer.open.set()
    assert answered.wait(WAIT_S)
    serve_by(writer, FailingCommitter(ValueError("no")))
    ask(writer, Request(agent="b"))
    assert ask(writer, Request(agent="c")) is None  # what was before it is over

    writer.close()
    assert writer.busy_seconds == 0


def test_a_caller_that_blocks_gives_its_connection_back_but_for_a_transaction(
    writer: Writer,
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no pool to give it back to.")
    serve_by(writer, FailingCommitter())
    connection.ensure_connection()
    writer.perform_now(PlainRequest(agent="a"))
    assert not _is_connected()

    with transaction.atomic():
        writer.perform_now(PlainRequest(agent="b"))
        assert _is_connected()
        assert not connection.needs_rollback


def _is_connected() -> bool:
    return connection.connection is not None


def test_a_process_has_one_writer_and_a_new_one_after_it_was_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[FakeWriter] = []

    class FakeWriter:
        def __init__(self) -> None:
            Event().wait(0.02)  # so that all of them come while it is being made
            made.append(self)
            self.closed = 0

        def close(self) -> None:
            self.closed += 1

    monkeypatch.setattr(thread, "_writer", None)
    monkeypatch.setattr(thread, "Writer", FakeWriter)

    found = at_once(*[thread.get_writer] * 4)
    assert len(made) == 1
    assert {id(each) for each in found} == {id(made[0])}

    thread.close_writer()
    thread.close_writer()
    assert made[0].closed == 1
    assert id(thread.get_writer()) == id(made[1])


def test_a_forked_process_makes_a_writer_of_its_own(database: None) -> None:
    """The thread stays behind in the parent: nobody would do what is put there."""
    thread.get_writer()
    child = os.fork()
    if child == 0:
        os._exit(0 if thread._writer is None else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
