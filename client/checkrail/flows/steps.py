"""Report steps, and do what the decisions say."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from checkrail.answers import Checkpoint, Decision, ReviewRef, Ruling
from checkrail.errors import ProtocolError
from checkrail.flows.backlog import StepReport
from checkrail.flows.result_queue import send_results
from checkrail.flows.rulings import (
    get_deadline,
    wait_for_release,
    wait_for_review,
    wait_for_ruling,
)
from checkrail.flows.run_core import RunCore
from checkrail.flows.step_queue import send_steps
from checkrail.flows.usage import read_usage
from checkrail.intents import Intent
from checkrail.money import Money, format_money
from checkrail.outcomes import Stopped
from checkrail.problems import Halted, NotFound, RunPaused
from checkrail.transport.effects import (
    Callback,
    Flow,
    Sleep,
    drop_unset,
    encode_json,
    get,
    post,
)
from checkrail.transport.retry import send_request

logger = logging.getLogger("checkrail")


def build_step_fields(
    *,
    tokens: int = 0,
    tool_calls: int = 0,
    duration_ms: int | None = None,
    cost_usd: Money | None = None,
    rework: bool = False,
    checkpoint: bool = False,
    coherence: float | None = None,
    uncertainty: float | None = None,
    confidences: Sequence[float] = (),
    intent: Intent | None = None,
    summary: str = "",
    signature: str | None = None,
    failed_calls: int | None = None,
) -> dict[str, Any]:
    """The body of a step without its number."""
    body = {
        "tokens": tokens,
        "tool_calls": tool_calls,
        **drop_unset(
            duration_ms=duration_ms,
            cost_usd=None if cost_usd is None else format_money(cost_usd),
            rework=rework,
            checkpoint=checkpoint,
            coherence=coherence,
            uncertainty=uncertainty,
            confidences=list(confidences) or None,
            intent=intent,
            summary=summary,
            signature=signature,
            failed_calls=failed_calls,
        ),
    }
    encode_json(body)  # what cannot be sent must not stand in front of what can
    return body


def build_report(
    run: RunCore,
    *,
    usage: object,
    tokens: int | None,
    duration_ms: int | None,
    cost_usd: Money | None,
    **others: Any,
) -> StepReport:
    """A step as it was given, with what else can be told: tokens and cost by what a model
    library says, and the time since the step before."""
    usages = () if usage is None else read_usage(usage)
    fields = build_step_fields(
        tokens=sum(each.tokens for each in usages) if tokens is None else tokens,
        duration_ms=(run.timer.measure_ms() or None)
        if duration_ms is None
        else duration_ms,
        cost_usd=cost_usd,
        **others,
    )
    run.timer.begin()
    return StepReport(fields, unpriced=usages if cost_usd is None else ())


def step(
    run: RunCore,
    *,
    tokens: int | None = None,
    tool_calls: int = 0,
    duration_ms: int | None = None,
    cost_usd: Money | None = None,
    rework: bool = False,
    checkpoint: bool = False,
    coherence: float | None = None,
    uncertainty: float | None = None,
    confidences: Sequence[float] = (),
    intent: Intent | None = None,
    summary: str = "",
    signature: str | None = None,
    failed_calls: int | None = None,
    usage: object = None,
    timeout: float | None = None,
) -> Flow[Decision]:
    """Report one step and obey: sleep, save a checkpoint, wait for a person.

    Raises Stopped when the run is over, StillWaiting when nobody ruled within `timeout`
    seconds. Amounts are of this step alone: `usage` is what a model library gives (its
    response, its usage, or a list of them), from which tokens are read, and the cost by the
    prices of the policy; the duration is measured from the step before. After StillWaiting or Unreachable the step
    is not lost and must not be reported again: it goes out with the next call. Any other
    refusal means that it was not reported.
    """
    report = build_report(
        run,
        usage=usage,
        tokens=tokens,
        tool_calls=tool_calls,
        duration_ms=duration_ms,
        cost_usd=cost_usd,
        rework=rework,
        checkpoint=checkpoint,
        coherence=coherence,
        uncertainty=uncertainty,
        confidences=confidences,
        intent=intent,
        summary=summary,
        signature=signature,
        failed_calls=failed_calls,
    )
    report.awaited = True
    until = get_deadline(run, timeout)
    try:
        decision = yield from _send_report(run, report, until)
        ruling = yield from obey(run, decision, until)
    finally:
        run.timer.begin()  # what was waited for is not part of the next step
    return replace(decision, ruling=ruling)


def _send_report(run: RunCore, report: StepReport, until: float) -> Flow[Decision]:
    """The decision on this report, after everything that was reported before it."""
    run.backlog.steps.append(report)
    try:
        while not report.is_settled:
            yield from catch_up(run, until)
    except BaseException:
        report.awaited = False
        if report.decision is not None:  # another thread has sent it meanwhile
            run.backlog.pending.append(report.decision)
        raise
    return _get_decision(report)


def _get_decision(report: StepReport) -> Decision:
    if report.decision is None:
        raise report.refusal or ProtocolError("The step was not judged.")
    return report.decision


def catch_up(run: RunCore, until: float) -> Flow[None]:
    """Send what is queued and obey what is pending."""
    backlog = run.backlog
    while backlog.results or backlog.errors or backlog.pending or backlog.steps:
        yield from send_results(run)
        yield from obey_pending(run, until)
        try:
            yield from send_steps(run, to_checkpoint=True)
        except Halted as halted:
            yield from wait_for_release(run, halted, until)
        except RunPaused as paused:
            if paused.review is None:
                raise
            yield from wait_for_review(run, paused.review, until)


def obey_pending(run: RunCore, until: float) -> Flow[None]:
    """Obey the decisions that arrived while no call waited for them."""
    backlog = run.backlog
    while backlog.errors or backlog.pending:
        if backlog.errors:
            raise backlog.errors.popleft()
        answer = backlog.pending[0]
        if isinstance(answer, ReviewRef):
            yield from wait_for_review(run, answer, until)
        else:
            yield from obey(run, answer, until)
        # Only now: what raises on the way is not obeyed, and the next call begins with it.
        if backlog.pending and backlog.pending[0] is answer:
            backlog.pending.popleft()


def obey(run: RunCore, decision: Decision, until: float) -> Flow[Ruling | None]:
    """Do what the decision says; the ruling where a person had to be waited for."""
    if decision.decision == "stop":
        run.ended = True
        raise Stopped(_get_reason(decision), decision=decision)
    if decision.checkpoint_due or decision.decision == "checkpoint":
        yield from _save_due_checkpoint(run, decision)
    if decision.decision == "throttle":
        yield Sleep(decision.delay_ms / 1000)
    if decision.decision == "pause":
        if decision.review is None:
            raise ProtocolError("The run is paused, but no review says why.")
        review = replace(decision.review, title=_get_reason(decision))
        return (yield from wait_for_ruling(run, review, until))
    return None


def _get_reason(decision: Decision) -> str:
    found = [f.message for f in decision.findings if f.decision == decision.decision]
    return "; ".join(found) or decision.recommended_action or "No reason was given."


def _save_due_checkpoint(run: RunCore, decision: Decision) -> Flow[None]:
    if decision.step <= run.saved_step:
        return  # of several late decisions the first has saved what the others ask for
    if run.on_checkpoint is None:
        yield from _save_own_checkpoint(run)
        return
    state = yield Callback(run.on_checkpoint, decision)
    if state is not None and not isinstance(state, Mapping):
        raise TypeError(
            "on_checkpoint returns the state to keep as a dict, or None if it has "
            f"saved it elsewhere, not {type(state).__name__}."
        )
    yield from save_checkpoint(run, state, step=run.last_step)


def _save_own_checkpoint(run: RunCore) -> Flow[None]:
    """Checkpoint for an author who keeps no state: without, the run is stopped in the end.

    The last state that was kept is kept on, or a crash would find it gone.
    """
    last = run.saved
    if last is None and run.resumed:
        last = yield from latest_checkpoint(run)
    if last is None:
        state: Mapping[str, Any] = {}
        label = "automatic, without a state"
    else:
        state = last.state
        # One that was automatic itself tells already of which step its state is.
        own = last.label.startswith("automatic")
        label = last.label if own else f"automatic, with the state of step {last.step}"
    logger.info(
        "A checkpoint is due: one is saved, %s. To keep a state of your own pass "
        "on_checkpoint=, or call run.checkpoint().",
        label,
    )
    yield from save_checkpoint(run, state, label=label, step=run.last_step)


def save_checkpoint(
    run: RunCore,
    state: Mapping[str, Any] | None = None,
    *,
    label: str = "",
    step: int | None = None,
) -> Flow[Checkpoint]:
    """Save up to 64 KiB of state at a step, the last one if none is named.

    A state with a secret in it is refused: Invalid names each place.
    """
    if step is None:
        yield from catch_up(run, get_deadline(run, None))
        step = run.last_step
    body = {"step": step, "state": dict(state or {}), **drop_unset(label=label)}
    request = post(run.build_path("checkpoints"), body)
    saved = yield from send_request(run.connection, Checkpoint, request)
    if saved.step >= run.saved_step:
        run.saved_step, run.saved = saved.step, saved
    return saved


def latest_checkpoint(run: RunCore) -> Flow[Checkpoint | None]:
    """Where to go on after a crash; None if nothing was saved."""
    try:
        request = get(run.build_path("checkpoints", "latest"))
        return (yield from send_request(run.connection, Checkpoint, request))
    except NotFound:
        return None


def report_step(
    run: RunCore,
    *,
    tokens: int | None = None,
    tool_calls: int = 0,
    duration_ms: int | None = None,
    cost_usd: Money | None = None,
    rework: bool = False,
    checkpoint: bool = False,
    coherence: float | None = None,
    uncertainty: float | None = None,
    confidences: Sequence[float] = (),
    intent: Intent | None = None,
    summary: str = "",
    signature: str | None = None,
    failed_calls: int | None = None,
    usage: object = None,
) -> Flow[Decision]:
    """Report one step and obey nothing: the decision is the caller's to obey.

    A step that was refused, also because the run is paused, was not reported. After
    Unreachable it is kept, and goes out with the next one.
    """
    report = build_report(
        run,
        usage=usage,
        tokens=tokens,
        tool_calls=tool_calls,
        duration_ms=duration_ms,
        cost_usd=cost_usd,
        rework=rework,
        checkpoint=checkpoint,
        coherence=coherence,
        uncertainty=uncertainty,
        confidences=confidences,
        intent=intent,
        summary=summary,
        signature=signature,
        failed_calls=failed_calls,
    )
    report.awaited = True
    run.backlog.steps.append(report)
    try:
        while not report.is_settled:
            yield from send_steps(run, despite_pending=True)
    except (Halted, RunPaused):
        if report in run.backlog.steps:  # else another thread was faster
            run.backlog.steps.remove(report)
            raise
    except BaseException:
        report.awaited = False
        raise
    return _get_decision(report)
