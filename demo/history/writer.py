"""Writes a past: the ledger's own committer, by a clock that is set before each change."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

from ledger.models import RunStatus
from ledger.writer import ChangeRequest
from ledger.writer.batch import Committer, Job

T = TypeVar("T")


class PastWriter:
    """For a project that nobody else writes to meanwhile."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)
        self._committer = Committer(lambda _: None, read_clock=lambda: self.at)

    def is_running(self, run_code: str) -> bool:
        """Whether a run is neither ended nor held."""
        return self._committer.states.get(run_code).status == RunStatus.RUNNING

    def perform(self, request: ChangeRequest[T]) -> T:
        """Perform a request at the moment that the clock shows; raises its refusal."""
        answers: list[tuple[Any, BaseException | None]] = []
        job = Job(request, lambda answer, error: answers.append((answer, error)))
        if not job.needs_own_transaction:
            self._committer.commit_batch([job])
        if not answers:  # decided under the lock, or judged again there
            self._committer.commit_one(job)
        answer, error = answers[0]
        if error is not None:
            raise error
        done: T = answer
        return done
