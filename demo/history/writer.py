"""Writes a past: the ledger's own committer, by a clock that is set before each change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from ledger.models import RunStatus
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from ledger.writer.batch import Committer
from ledger.writer.jobs import Job

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

    def perform_unanswered(self, request: ChangeRequest[Any]) -> None:
        """The same where nobody reads the answer: to build one takes as long again."""
        decide = request.decide

        def decide_alone(run: RunState, at: datetime) -> Change[Any]:
            return replace(decide(run, at), answer=None)

        vars(request)["decide"] = decide_alone
        self.perform(request)
