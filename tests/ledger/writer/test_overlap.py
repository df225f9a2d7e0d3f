"""While one batch is being stored, the next is judged: of other runs, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.utils import OperationalError

from ledger.writer import Writer
from ledger.writer.jobs import Batch, Job, Judged
from tests.ledger.writer.fakes import PlainRequest, Request, put


class SlowCommitter:
    """Whose commits are done when they are told to be, in `done`."""

    session = None

    def __init__(self) -> None:
        self.said: list[str] = []
        self.begun, self.done = Event(), Event()
        self.lost: list[Exception] = []
        self.unjudged: list[str] = []

    def judge(self, jobs: Sequence[Job], before: Judged | None = None) -> Judged:
        self.said.append(f"judge {_name(jobs)}")
        items: dict[str, Any] = before.items if before else {}
        for job in jobs:
            item = items.setdefault(job.request.run_code, SimpleNamespace(answers=[]))
            if job.request.agent in self.unjudged:  # type: ignore[attr-defined]
                raise OperationalError("The line was cut.")
            item.answers.append((job, None, ()))
        return Judged(items, [])

    def begin(self, judged: Judged) -> Batch:
        self.said.append(f"begin {_name(judged.list_jobs())}")
        self.begun.set()
        return Batch(judged, set, self.done.wait)

    def finish(self, batch: Batch) -> list[Job]:
        assert self.done.wait(timeout=60)
        self.said.append(f"finish {_name(batch.judged.list_jobs())}")
        if self.lost:
            raise self.lost.pop()
        for job in batch.judged.list_jobs():
            job.settle(None, None)
        return []

    def commit_batch(self, jobs: Sequence[Job]) -> list[Job]:
        self.said.append(f"alone {_name(jobs)}")
        for job in jobs:
            job.settle(None, None)
        return []

    def commit_one(self, job: Job) -> None:
        self.commit_batch([job])

    def forget(self) -> None:
        self.said.append("forget")


def _name(jobs: Sequence[Job]) -> str:
    return " ".join(job.request.agent for job in jobs)  # type: ignore[attr-defined]


def step(agent: str, run: str) -> PlainRequest:
    return PlainRequest(agent=agent, run_code=run)


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def committer(writer: Writer) -> SlowCommitter:
    committer = SlowCommitter()
    writer._committer = committer  # type: ignore[assignment]
    return committer


def send_while_one_is_stored(
    writer: Writer, committer: SlowCommitter, *requests: Request
) -> None:
    """The first is under way before the others come, and ends after them."""
    answered = [put(writer, step("a", "run 1"))]
    assert committer.begun.wait(timeout=60)
    # It waits for the first commit: all others come while it does.
    judged = [put(writer, request) for request in requests]
    committer.done.set()
    assert all(event.wait(timeout=60) for event in (*answered, *judged))
    writer.close()


def test_each_is_answered_in_the_end_and_a_run_keeps_its_order(
    writer: Writer, committer: SlowCommitter
) -> None:
    requests = [step("b", "run 1"), step("c", "run 1"), step("d", "run 1")]

    send_while_one_is_stored(writer, committer, *requests)

    begun = [each.split(" ", 1)[1] for each in committer.said if "begin" in each]
    assert " ".join(begun) == "a b c d"
    first = committer.said.index("finish a")
    assert not any("b" in each.split() for each in committer.said[:first])


def test_the_next_batch_is_judged_before_the_last_is_done(
    writer: Writer, committer: SlowCommitter
) -> None:
    writer.close()
    writer._batch = committer.begin(committer.judge([_job("a", "run 1")]))

    writer._judge([_job("c", "run 2")])
    writer._judge([_job("d", "run 3")])

    assert writer._judged is not None
    assert _name(writer._judged.list_jobs()) == "c d"
    assert committer.said == ["judge a", "begin a", "judge c", "judge d"]


def test_what_is_about_a_run_under_way_is_held(
    writer: Writer, committer: SlowCommitter
) -> None:
    writer.close()
    writer._batch = committer.begin(committer.judge([_job("a", "run 1")]))

    writer._judge([_job("b", "run 1"), _job("c", "run 2"), _job("d", "run 1")])

    assert _name(writer._held) == "b d"


def test_who_needs_the_lock_comes_after_what_is_under_way(
    writer: Writer, committer: SlowCommitter
) -> None:
    send_while_one_is_stored(writer, committer, Request(agent="lock", run_code="run 1"))

    assert committer.said[-2:] == ["finish a", "alone lock"]


def test_if_a_commit_is_lost_its_jobs_are_tried_alone_and_the_next_goes_on(
    writer: Writer, committer: SlowCommitter
) -> None:
    committer.lost.append(OperationalError("The line was cut."))

    send_while_one_is_stored(writer, committer, step("b", "run 2"))

    assert committer.said.count("alone a") == 1
    assert "finish b" in committer.said
    assert committer.said.index("forget") < committer.said.index("alone a")


def test_if_judging_fails_all_that_was_judged_is_tried_alone_and_none_twice(
    writer: Writer, committer: SlowCommitter
) -> None:
    writer.close()
    committer.done.set()
    writer._batch = committer.begin(committer.judge([_job("a", "run 1")]))
    writer._judge([_job("b", "run 2")])
    committer.unjudged.append("d")

    writer._judge([_job("c", "run 3"), _job("d", "run 4")])

    assert writer._judged is None
    after = committer.said[committer.said.index("finish a") :]
    assert after == ["finish a", "forget", "alone b", "alone c", "alone d"]


def _job(agent: str, run: str) -> Job:
    return Job(step(agent, run), lambda _answer, _error: None)
