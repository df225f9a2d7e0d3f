"""The beginning and the end of a run."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from checkrail.answers import Review, ReviewRef, RunState
from checkrail.errors import CheckrailError, Unreachable
from checkrail.flows.result_queue import send_results
from checkrail.flows.reviews import OWN_KINDS, withdrawing
from checkrail.flows.rulings import deadline, over
from checkrail.flows.run_core import RunCore
from checkrail.flows.step_queue import drain
from checkrail.flows.steps import catch_up
from checkrail.intents import Intent
from checkrail.money import money
from checkrail.outcomes import StillWaiting, Stopped
from checkrail.problems import AlreadyRuled, ReviewOpen, RunPaused
from checkrail.transport.effects import Flow, Request, get, given, part, post
from checkrail.transport.retry import ask

SUMMARY_LIMIT = 2_000
# After these the run is left as it is: it is over, or somebody may take it up again.
LEAVING = (Stopped, StillWaiting, Unreachable)

logger = logging.getLogger("checkrail")


def run_body(
    task: str,
    *,
    intent: Intent,
    model: str,
    policy: str,
    budget: Mapping[str, Any] | None,
    labels: Mapping[str, str] | None,
    parent_run: str | None,
) -> dict[str, Any]:
    """A part of the budget that is None is unlimited; one left out is the policy's."""
    told = given(model=model, parent_run=parent_run)
    limits = dict(budget or {})
    if limits.get("cost_usd") is not None:
        limits["cost_usd"] = money(limits["cost_usd"])
    return {
        "task": task,
        "intent": intent,
        "policy": policy,
        "budget": limits,
        "labels": dict(labels or {}),
        **told,
    }


def start(run: RunCore, body: Mapping[str, Any]) -> Flow[RunState]:
    return run.stands((yield from ask(run.link, RunState, post("/runs", body))))


def take_up(run: RunCore, run_id: str) -> Flow[RunState]:
    request = get(f"/runs/{part(run_id)}")
    run.resumed = True
    return run.stands((yield from ask(run.link, RunState, request)))


def refresh(run: RunCore) -> Flow[RunState]:
    """Ask how the run stands; steps are counted from what the server says."""
    state = yield from ask(run.link, RunState, get(run.path()))
    run.stepped(state.last_step)
    return run.stands(state)


def finish(
    run: RunCore,
    outcome: Literal["completed", "failed"] = "completed",
    *,
    summary: str = "",
    tests: Mapping[str, Any] | None = None,
    diff: Mapping[str, Any] | None = None,
    rework_lines: int = 0,
    files_touched: Sequence[str] = (),
    tools_used: Sequence[str] = (),
    violations: Sequence[Mapping[str, Any]] = (),
) -> Flow[RunState]:
    """End the run with what came of it; a person who is still asked is waited for."""
    yield from catch_up(run, deadline(run, None))
    told = given(
        summary=summary,
        tests=None if tests is None else dict(tests),
        diff=None if diff is None else dict(diff),
        rework_lines=rework_lines or None,
        files_touched=list(files_touched) or None,
        tools_used=list(tools_used) or None,
        violations=[dict(violation) for violation in violations] or None,
    )
    request = _finishing(run, {"outcome": outcome, **told})
    while True:
        try:
            state = yield from ask(run.link, RunState, request)
        except ReviewOpen as waiting:
            if waiting.review is None:
                raise
            yield from over(run, waiting.review, deadline(run, None))
            continue
        run.ended = True
        return run.stands(state)


def fail(run: RunCore, error: BaseException) -> Flow[None]:
    """End the run as failed, in short: the error itself must not be held up or hidden.

    What the agent asked in its own words is taken back, since nobody is left to hear the
    answer. What a gate asked is a person's to end, and a run that was taken up from
    another process may be taken up again: there the run is left as it is.
    """
    if isinstance(error, LEAVING):
        return
    summary = f"{type(error).__name__}: {error}"[:SUMMARY_LIMIT]
    request = _finishing(run, {"outcome": "failed", "summary": summary})
    try:
        while (review := (yield from _blocking_review(run, request))) is not None:
            yield from _take_back(run, review)
    except (ReviewOpen, RunPaused) as paused:
        logger.warning(
            "The run %s is left as it is: a person is still asked (%s). To go on with "
            "it later: Checkrail().resume(%r).",
            run.id,
            paused.review.url if paused.review else paused.detail,
            run.id,
        )
    except CheckrailError as trouble:
        logger.warning("The run %s could not be ended as failed: %s", run.id, trouble)


def _blocking_review(run: RunCore, request: Request) -> Flow[ReviewRef | None]:
    """None once the run has ended; else what has to be taken back first, and may be."""
    patience = run.link.ending_patience
    try:
        yield from send_rest(run, patience=patience)
        state = yield from ask(run.link, RunState, request, patience=patience)
    except (ReviewOpen, RunPaused) as paused:
        review = paused.review
        if review is None or review.kind not in OWN_KINDS or run.resumed:
            raise
        return review
    run.stands(state)
    run.ended = True
    return None


def _take_back(run: RunCore, review: ReviewRef) -> Flow[None]:
    try:
        request = withdrawing(review)
        yield from ask(run.link, Review, request, patience=run.link.ending_patience)
    except AlreadyRuled:
        pass  # a person was faster: nothing is open any more


def send_rest(run: RunCore, *, patience: float | None = None) -> Flow[None]:
    """Send what is kept and queued; nobody waits for what is decided on it."""
    yield from send_results(run, patience=patience)
    yield from drain(run, patience=patience)


def send_kept(run: RunCore) -> Flow[None]:
    """What an outage has left over, tried once more; else `warn_of_unsent` says it."""
    if not run.backlog.unsent:
        return
    try:
        yield from send_rest(run, patience=run.link.ending_patience)
    except CheckrailError as trouble:
        logger.warning("What was kept could not be sent: %s", trouble)


def warn_of_unsent(run: RunCore) -> None:
    """What could not be sent, in words: with the program it is gone."""
    unsent = run.backlog.unsent
    if unsent:
        logger.warning("The run %s is left: %s were not sent.", run.id, unsent)


def _finishing(run: RunCore, body: Mapping[str, Any]) -> Request:
    return post(run.path("finish"), body)
