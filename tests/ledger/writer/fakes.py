"""Change requests about nothing, and committers that stand for the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Event
from typing import Any

from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, Writer
from ledger.writer.jobs import Batch, Job, Judged


@dataclass(kw_only=True)
class Request(ChangeRequest[None]):
    agent: str
    run_code: str = ""

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        raise AssertionError("This test decides nothing.")


class PlainRequest(Request):
    locked = False


class OneGo:
    """Stores each batch in one go, as SQLite does."""

    def judge(self, jobs: Sequence[Job], before: Judged | None = None) -> Judged:
        return Judged({}, [*(before.again if before else ()), *jobs])

    def begin(self, judged: Judged) -> Batch:
        return Batch(Judged({}, self.commit_batch(judged.again)), set)

    def finish(self, batch: Batch) -> list[Job]:
        return batch.judged.again

    def commit_batch(self, jobs: Sequence[Job]) -> list[Job]:
        raise NotImplementedError


class FakeCommitter(OneGo):
    """Writes down what is done, and when told waits."""

    session = None

    def __init__(self) -> None:
        self.done: list[str] = []
        self.entered, self.open = Event(), Event()

    def commit_one(self, job: Job) -> None:
        self._do(job)

    def commit_batch(self, jobs: Sequence[Job]) -> list[Job]:
        for job in jobs:
            self._do(job)
        return []

    def _do(self, job: Job) -> None:
        request: Any = job.request
        self.entered.set()
        assert self.open.wait(timeout=60)
        self.done.append(request.agent)
        job.settle(None, None)


class FailingCommitter(OneGo):
    """Meets each attempt by the next of its errors, and after them does as it is told."""

    session = None

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.tried: list[list[str]] = []
        self.forgot = 0
        self.before: Callable[[Sequence[Job]], None] = lambda _jobs: None

    def commit_one(self, job: Job) -> None:
        self.commit_batch([job])

    def commit_batch(self, jobs: Sequence[Job]) -> list[Job]:
        requests: list[Any] = [job.request for job in jobs]
        self.tried.append([request.agent for request in requests])
        self.before(jobs)
        if self.errors:
            raise self.errors.pop(0)
        for job in jobs:
            job.settle(None, None)
        return []

    def forget(self) -> None:
        self.forgot += 1


def put(writer: Writer, request: Request) -> Event:
    """Set as soon as it is answered."""
    answered = Event()
    writer._put(Job(request, lambda _answer, _error: answered.set()))
    return answered
