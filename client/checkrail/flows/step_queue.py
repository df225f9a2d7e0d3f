"""Send steps to the server: in order, each once, none lost.

Every step is put into the backlog first and taken out when the server has answered it.
One that got no answer stays at the head with the same number and the same figures, so
that it can be sent again whatever became of the first try.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from checkrail.answers import Decision
from checkrail.answers.parsing import Answer
from checkrail.errors import ProtocolError, Unreachable
from checkrail.flows.backlog import StepReport
from checkrail.flows.costs import compute_cost
from checkrail.flows.run_core import RunCore
from checkrail.problems import (
    Halted,
    Invalid,
    Malformed,
    Problem,
    RunClosed,
    RunPaused,
    TooLarge,
)
from checkrail.transport.effects import Acquire, Flow, post_safe
from checkrail.transport.retry import send_request

BATCH_LIMIT = 100
# Refusals of the step itself: sent again it would be refused again.
_REFUSALS_OF_STEP = (Invalid, Malformed, TooLarge)

logger = logging.getLogger("checkrail")


@dataclass(frozen=True, kw_only=True)
class BatchAnswer(Answer):
    decisions: tuple[Decision, ...]
    accepted: int


def send_steps(
    run: RunCore,
    *,
    despite_pending: bool = False,
    to_checkpoint: bool = False,
    patience: float | None = None,
) -> Flow[None]:
    """Send what is queued, up to the first pause or stop, or to a checkpoint.

    Nothing is sent while a pause is pending, unless `despite_pending`.
    Raises Halted, RunPaused and whatever else concerns no single step: what could not be sent
    stays queued.
    """
    backlog = run.backlog
    yield Acquire(backlog.lock)
    try:
        size = backlog.batch_size
        while backlog.steps and (despite_pending or not backlog.is_blocked):
            reports = list(islice(backlog.steps, size))
            try:
                decisions = yield from _send_reports(run, reports, patience)
            except (Halted, RunPaused, Unreachable):
                raise
            except RunClosed as closed:
                run.ended = True
                for report in list(backlog.steps):
                    _settle(run, report, refusal=closed)
                continue
            except Problem as refusal:
                unfit = isinstance(refusal, _REFUSALS_OF_STEP)
                if len(reports) == 1 and (unfit or reports[0].awaited):
                    _settle(run, reports[0], refusal=refusal)
                elif not unfit:
                    raise
                size = 1  # of several, find out which one it is
                continue
            _forget_outages(run)
            run.ended = False  # a manager may have reopened it
            for report, decision in zip(reports, decisions, strict=False):
                run.set_last_step(decision.step)
                run.store_notes(decision.notes)
                _settle(run, report, decision=decision)
            if decisions[-1].decision in ("pause", "stop"):
                return
            if to_checkpoint and backlog.is_checkpoint_due:
                return  # else a quick agent is stopped for not having saved in time
    finally:
        backlog.lock.release()


def _send_reports(
    run: RunCore, reports: Sequence[StepReport], patience: float | None
) -> Flow[Sequence[Decision]]:
    for report in reports:
        yield from _add_cost(run, report, patience)
    first = run.last_step + 1
    bodies = [
        {"number": first + index, **report.fields}
        for index, report in enumerate(reports)
    ]
    if len(bodies) == 1:
        request = post_safe(run.build_path("steps"), bodies[0])
        decision = yield from send_request(
            run.connection, Decision, request, patience=patience
        )
        decisions: Sequence[Decision] = [decision]
    else:
        request = post_safe(run.build_path("steps", "batch"), {"steps": bodies})
        batch = yield from send_request(
            run.connection, BatchAnswer, request, patience=patience
        )
        decisions = batch.decisions
    numbers = [decision.step for decision in decisions]
    whole = len(numbers) == len(bodies)
    early = bool(decisions) and decisions[-1].decision in ("pause", "stop")
    if numbers != [first + i for i in range(len(numbers))] or not (whole or early):
        raise ProtocolError(
            f"Reported steps from {first} to {first + len(bodies) - 1}, "
            f"but the answer is about {numbers}."
        )
    return decisions


def _add_cost(run: RunCore, report: StepReport, patience: float | None) -> Flow[None]:
    """Once, before it is first sent: sent again it has to be the same."""
    if not report.unpriced:
        return
    cost = yield from compute_cost(run, report.unpriced, patience=patience)
    if cost is not None:
        report.fields = {**report.fields, "cost_usd": cost}
    report.unpriced = ()


def _settle(
    run: RunCore,
    report: StepReport,
    *,
    decision: Decision | None = None,
    refusal: Problem | None = None,
) -> None:
    """Give the outcome to the call that waits for it, or to the run's next call."""
    run.backlog.steps.remove(report)
    report.decision, report.refusal = decision, refusal
    if report.awaited:
        return
    if decision is not None:
        run.backlog.pending.append(decision)
    elif refusal is not None and refusal not in run.backlog.errors:
        run.backlog.errors.append(refusal)


def _forget_outages(run: RunCore) -> None:
    """Drop stored outages once the server answers again."""
    troubles = run.backlog.errors
    for trouble in [t for t in troubles if isinstance(t, Unreachable)]:
        troubles.remove(trouble)


def send_steps_in_background(run: RunCore) -> Flow[None]:
    """The same beside the agent's own work: what has to be obeyed waits for its next call."""
    try:
        if not run.backlog.is_checkpoint_due:
            yield from send_steps(run, to_checkpoint=True)
    except Halted as halted:
        # What could not be sent stays queued: the next call waits for the release.
        logger.info("Halted by %s: %s", halted.by, halted.reason)
    except RunPaused as paused:
        if paused.review is None:
            run.backlog.errors.append(paused)
        else:
            run.backlog.pending.append(paused.review)
    except Problem as problem:
        run.backlog.errors.append(problem)
    except (Unreachable, ProtocolError) as trouble:
        if not any(isinstance(t, type(trouble)) for t in run.backlog.errors):
            run.backlog.errors.append(trouble)
