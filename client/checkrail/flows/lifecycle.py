"""Start, resume, refresh and end a run."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from checkrail.answers import Review, ReviewRef, RunState, Violation
from checkrail.errors import CheckrailError, Unreachable
from checkrail.flows.result_queue import send_results
from checkrail.flows.reviews import OWN_KINDS, build_withdraw_request
from checkrail.flows.rulings import get_deadline, wait_for_review
from checkrail.flows.run_core import RunCore
from checkrail.flows.step_queue import send_steps
from checkrail.flows.steps import catch_up
from checkrail.intents import Intent
from checkrail.money import format_money
from checkrail.outcomes import StillWaiting, Stopped
from checkrail.problems import AlreadyRuled, Halted, ReviewOpen, RunPaused
from checkrail.transport.effects import (
    Flow,
    Request,
    Sleep,
    drop_unset,
    get,
    post,
    quote_part,
)
from checkrail.transport.retry import send_request

SUMMARY_LIMIT = 2_000
# Between two tries to start a run that is halted, where the server does not say.
RETRY_SECONDS = 5.0
# After these the run is left as it is: it is over, or somebody may take it up again.
KEEPS_RUN_OPEN = (Stopped, StillWaiting, Unreachable)

logger = logging.getLogger("checkrail")


def build_run_body(
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
    optional = drop_unset(model=model, parent_run=parent_run)
    limits = dict(budget or {})
    if limits.get("cost_usd") is not None:
        limits["cost_usd"] = format_money(limits["cost_usd"])
    return {
        "task": task,
        "intent": intent,
        "policy": policy,
        "budget": limits,
        "labels": dict(labels or {}),
        **optional,
    }


def start(run: RunCore, body: Mapping[str, Any]) -> Flow[RunState]:
    """While it is halted, a release is waited for, as long as an outage would be."""
    patience = run.connection.get_patience(waiting=True)
    until = get_deadline(run, patience)
    while True:
        try:
            request = post("/runs", body)
            state = yield from send_request(run.connection, RunState, request)
            break
        except Halted as halted:
            pause = halted.retry_after or RETRY_SECONDS
            if run.connection.clock() + pause > until:
                raise
            logger.info("Halted by %s: %s", halted.by, halted.reason)
            yield Sleep(pause)
    run.timer.begin()
    return run.store_state(state)


def resume(run: RunCore, run_id: str) -> Flow[RunState]:
    request = get(f"/runs/{quote_part(run_id)}")
    run.resumed = True
    state = yield from send_request(run.connection, RunState, request)
    run.timer.begin()
    return run.store_state(state)


def refresh(run: RunCore) -> Flow[RunState]:
    """Ask how the run stands; steps are counted from what the server says."""
    state = yield from send_request(run.connection, RunState, get(run.build_path()))
    run.set_last_step(state.last_step)
    return run.store_state(state)


def record_violation(
    run: RunCore,
    rule: str,
    severity: Literal["critical", "high", "medium", "low", "info"] = "medium",
    *,
    description: str = "",
    auto_corrected: bool = False,
) -> Flow[Violation]:
    """Tell of a rule that was broken, at once; it counts when the run is judged."""
    body = {
        "rule": rule,
        "severity": severity,
        "auto_corrected": auto_corrected,
        **drop_unset(description=description),
    }
    request = post(run.build_path("violations"), body)
    return (yield from send_request(run.connection, Violation, request))


def finish(
    run: RunCore,
    outcome: Literal["completed", "failed"] = "completed",
    *,
    summary: str = "",
    tests: Mapping[str, Any] | None = None,
    diff: Mapping[str, Any] | None = None,
    rework_lines: int | None = None,
    files_touched: Sequence[str] = (),
    tools_used: Sequence[str] = (),
    violations: Sequence[Mapping[str, Any]] | None = None,
) -> Flow[RunState]:
    """End the run with what came of it; a person who is still asked is waited for.

    The run is judged by what the server saw first, so that its `status` may be failed
    although the outcome is completed: `evaluations` say why.
    """
    yield from catch_up(run, get_deadline(run, None))
    optional = drop_unset(
        summary=summary,
        tests=None if tests is None else dict(tests),
        diff=None if diff is None else dict(diff),
        rework_lines=rework_lines,
        files_touched=list(files_touched) or None,
        tools_used=list(tools_used) or None,
        violations=None
        if violations is None
        else [dict(violation) for violation in violations],
    )
    request = _build_finish_request(run, {"outcome": outcome, **optional})
    while True:
        try:
            state = yield from send_request(run.connection, RunState, request)
        except ReviewOpen as waiting:
            if waiting.review is None:
                raise
            yield from wait_for_review(run, waiting.review, get_deadline(run, None))
            continue
        run.ended = True
        return run.store_state(state)


def fail(run: RunCore, error: BaseException) -> Flow[None]:
    """End the run as failed, in short: the error itself must not be held up or hidden.

    What the agent asked in its own words is taken back, since nobody is left to hear the
    answer. What a gate asked is a person's to end, and a run that was taken up from
    another process may be taken up again: there the run is left as it is.
    """
    if isinstance(error, KEEPS_RUN_OPEN):
        return
    summary = f"{type(error).__name__}: {error}"[:SUMMARY_LIMIT]
    request = _build_finish_request(run, {"outcome": "failed", "summary": summary})
    try:
        while (review := (yield from _finish_or_get_review(run, request))) is not None:
            yield from _withdraw(run, review)
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


def _finish_or_get_review(run: RunCore, request: Request) -> Flow[ReviewRef | None]:
    """None once the run has ended; else what has to be taken back first, and may be."""
    patience = run.connection.ending_patience
    try:
        yield from send_backlog(run, patience=patience)
        state = yield from send_request(
            run.connection, RunState, request, patience=patience
        )
    except (ReviewOpen, RunPaused) as paused:
        review = paused.review
        if review is None or review.kind not in OWN_KINDS or run.resumed:
            raise
        return review
    run.store_state(state)
    run.ended = True
    return None


def _withdraw(run: RunCore, review: ReviewRef) -> Flow[None]:
    try:
        request = build_withdraw_request(review)
        yield from send_request(
            run.connection, Review, request, patience=run.connection.ending_patience
        )
    except AlreadyRuled:
        pass  # a person was faster: nothing is open any more


def send_backlog(run: RunCore, *, patience: float | None = None) -> Flow[None]:
    """Send results and steps, and obey nothing."""
    yield from send_results(run, patience=patience)
    yield from send_steps(run, patience=patience)


def try_to_send_backlog(run: RunCore) -> Flow[None]:
    """What an outage has left over, tried once more; else `warn_of_unsent` says it."""
    if not run.backlog.description:
        return
    try:
        yield from send_backlog(run, patience=run.connection.ending_patience)
    except CheckrailError as trouble:
        logger.warning("What was kept could not be sent: %s", trouble)


def warn_about_unsent(run: RunCore) -> None:
    """What could not be sent, in words: with the program it is gone."""
    unsent = run.backlog.description
    if unsent:
        logger.warning("The run %s is left: %s were not sent.", run.id, unsent)


def _build_finish_request(run: RunCore, body: Mapping[str, Any]) -> Request:
    return post(run.build_path("finish"), body)
