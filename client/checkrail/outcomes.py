"""Exceptions that tell an agent how a run, a review or a call ended."""

from __future__ import annotations

from collections.abc import Sequence

from checkrail.answers import CallAnswer, CallFinding, Decision, ReviewRef, Ruling
from checkrail.errors import CheckrailError


class StillWaiting(CheckrailError, TimeoutError):
    """`timeout` ended before a person ruled. Nothing is lost: `run.wait(error.review)`."""

    def __init__(self, review: ReviewRef, *, call_id: str | None = None) -> None:
        super().__init__(f"Nobody has ruled on the {review.kind} yet: {review.url}")
        self.review = review
        self.call_id = call_id


class Stopped(CheckrailError):
    """The run takes nothing more. A manager may reopen one that a gate stopped."""

    decision: Decision | None = None

    def __init__(self, reason: str, *, decision: Decision | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.decision = decision


class Aborted(Stopped):
    """A person ended the run."""

    def __init__(self, review: ReviewRef, ruling: Ruling) -> None:
        super().__init__(f"{ruling.by} aborted the run{_describe_note(ruling)}")
        self.review = review
        self.ruling = ruling

    @property
    def note(self) -> str:
        """What the person wrote with it."""
        return self.ruling.note


class Expired(Stopped):
    """Nobody ruled in time: the run ended as its policy says. It is no approval."""

    def __init__(self, review: ReviewRef) -> None:
        super().__init__(f"Nobody ruled on the {review.kind} in time: {review.url}")
        self.review = review


class Superseded(Stopped):
    """The run ended before anybody ruled."""

    def __init__(self, review: ReviewRef) -> None:
        super().__init__(f"The run ended before anybody ruled: {review.url}")
        self.review = review


class Withdrawn(CheckrailError):
    """The agent took its own request back, so nobody will answer it."""

    def __init__(self, review: ReviewRef) -> None:
        super().__init__(f"The {review.kind} was withdrawn: {review.url}")
        self.review = review


class Denied(CheckrailError):
    """A person said no to a request or a call; the run goes on without it."""

    def __init__(self, review: ReviewRef, ruling: Ruling) -> None:
        super().__init__(f"{ruling.by} denied it{_describe_note(ruling)}")
        self.review = review
        self.ruling = ruling

    @property
    def note(self) -> str:
        """What the person wrote with it."""
        return self.ruling.note


class Blocked(CheckrailError):
    """The gates refuse the call: it must not run. `findings` say what to do instead."""

    def __init__(self, answer: CallAnswer) -> None:
        found = [f for f in answer.findings if f.decision == "block"]
        super().__init__(
            "; ".join(_describe_finding(finding) for finding in found) or "Blocked."
        )
        self.answer = answer

    @property
    def findings(self) -> Sequence[CallFinding]:
        return self.answer.findings


class NotReplayable(CheckrailError):
    """The server has the result of this call, but not in a form that can stand for it."""


def _describe_finding(finding: CallFinding) -> str:
    advice = f" {finding.remediation}" if finding.remediation else ""
    return f"{finding.gate}: {finding.message}.{advice}"


def _describe_note(ruling: Ruling) -> str:
    return f": {ruling.note}" if ruling.note else "."
