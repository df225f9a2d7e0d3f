"""Refusals of runs and reviews: lawful requests that meet the wrong state."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil
from operator import itemgetter
from typing import Any

from common.errors import DomainError
from guidance.core.money import format_usd
from guidance.core.runs.plans import RunPlan
from guidance.core.runs.shared_limits import (
    SharedLimit,
    SharedUse,
    describe_all_reached,
)
from ledger.chain import format_timestamp
from ledger.state import RunState

# A run's budget never begins anew: so long until it may have been raised.
_RETRY_AFTER_S = 60
_NEVER = datetime.max.replace(tzinfo=UTC)


class RunClosed(DomainError):
    slug, status, title = "run-closed", 409, "The run takes nothing more"

    @classmethod
    def from_run(cls, run: RunState) -> RunClosed:
        why = f": {run.status_reason}" if run.status_reason else "."
        return cls(f"The run is {run.status}{why}", run_status=run.status)


class RunPaused(DomainError):
    slug, status, title = "run-paused", 409, "The run waits for a person"


class LimitReached(DomainError):
    slug, status, title = "limit-reached", 429, "A limit is used up"

    @classmethod
    def from_limits(
        cls, reached: Sequence[SharedLimit], *, agent: str, at: datetime
    ) -> LimitReached:
        """Names the one that begins anew last: before that no run begins."""
        renewals = [(each.find_renewal(at) or _NEVER, each) for each in reached]
        renewal, limit = max(renewals, key=itemgetter(0))
        begins, wait = None, _RETRY_AFTER_S
        until = "Until a manager raises it"
        if renewal is not _NEVER:
            begins, wait = renewal, ceil((renewal - at).total_seconds())
            until = f"Until {begins:%Y-%m-%d %H:%M} UTC, or a manager raises it"
        money = limit.part == "cost_micros"
        write = format_usd if money else int
        return cls(
            f"{describe_all_reached(reached)}. {until}, no run begins or is reopened.",
            headers={"Retry-After": str(wait)},
            limit={
                "scope": limit.scope,
                "agent": agent if limit.scope == "agent_day" else None,
                "run": limit.run,
                "part": "cost_usd" if money else limit.part,
                "limit": write(limit.limit),
                "used": write(limit.used),
                "begins_anew": begins and format_timestamp(begins),
            },
        )


def refuse_used_up(shared: SharedUse, *, agent: str, at: datetime) -> None:
    """A run that begins or is reopened under a limit that is used up would spend more, and
    a supervisor that starts a stopped agent again would do so for ever."""
    if shared.reached:
        raise LimitReached.from_limits(shared.reached, agent=agent, at=at)


class LookNeeded(DomainError):
    """Internal: a model may answer this call; `plan` is what its run's plan is about."""

    plan: tuple[str, ...] = ()

    @classmethod
    def from_plan(cls, plan: RunPlan | None) -> LookNeeded:
        needed = cls("A model looks at this call first.")
        if plan is not None:
            needed.plan = tuple(step.purpose for step in plan.steps)
        return needed


class ReviewOpen(DomainError):
    slug, status, title = "review-open", 409, "A review is still open"


class FourEyes(DomainError):
    slug, status, title = "four-eyes", 403, "Somebody else has to approve this"


class CriticalAlone(DomainError):
    slug, status, title = "critical-alone", 403, "A critical review is ruled by itself"


class ShadowRunning(DomainError):
    slug, status, title = "shadow-running", 409, "Another draft runs beside this policy"


class StepOutOfOrder(DomainError):
    slug, status, title = "step-out-of-order", 409, "Another step is expected"


class StepSeen(DomainError):
    """Internal: this number is stored already; the caller compares and answers."""

    slug, status, title = "step-conflict", 409, "This step is stored already"


class StepConflict(DomainError):
    slug, status = "step-conflict", 409
    title = "This step was reported before with another body"


class ReviewNotOpen(DomainError):
    """Internal: the caller finds out how the review ended and says that."""

    slug, status, title = "already-ruled", 409, "The review is closed"


class AlreadyRuled(DomainError):
    slug, status, title = "already-ruled", 409, "Already ruled"


class ReviewExpired(DomainError):
    slug, status, title = "review-expired", 410, "The time to answer is over"


class SignInAgain(DomainError):
    slug, status, title = "sign-in-again", 403, "Sign in again first"


class RulingHeld(DomainError):
    slug, status, title = "ruling-held", 409, "Your ruling is about to be sent"


class RulingNotHeld(DomainError):
    slug, status, title = "ruling-not-held", 409, "There is nothing to take back"


class GrantSpent(DomainError):
    slug, status, title = "grant-spent", 409, "A grant is good for one time"


class GrantMismatch(DomainError):
    slug, status, title = "grant-mismatch", 409, "The grant is for another call"


class GrantExpired(DomainError):
    slug, status, title = "grant-expired", 410, "The grant came too late"


class ResultSeen(DomainError):
    """Internal: this very result is stored; the caller answers as before."""


class PolicyMoved(DomainError):
    """Internal: the run goes on under another version; the call is judged by that."""


class PermissionGone(DomainError):
    """Internal: the permission ended meanwhile; the call is judged without it."""


def build_review_reference(*, code: str, kind: str, url: str) -> dict[str, Any]:
    return {"id": code, "kind": kind, "url": url}


def refuse_closed(run: RunState) -> None:
    if run.closed:
        raise RunClosed.from_run(run)
