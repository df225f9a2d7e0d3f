"""Getting steps to the server: in order, each once, none lost.

Every step is put into the backlog first and taken out when the server has answered it.
One that got no answer stays at the head with the same number and the same figures, so
that it can be sent again whatever became of the first try.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from checkrail.answers import Decision
from checkrail.answers.parsing import Told
from checkrail.errors import ProtocolError, Unreachable
from checkrail.flows.backlog import Report
from checkrail.flows.run_core import RunCore
from checkrail.problems import (
    Invalid,
    Malformed,
    Problem,
    RunClosed,
    RunPaused,
    TooLarge,
)
from checkrail.transport.effects import Acquire, Flow, post_safe
from checkrail.transport.retry import ask

BATCH_LIMIT = 100
# Refusals of the step itself: sent again it would be refused again.
_UNFIT = (Invalid, Malformed, TooLarge)


@dataclass(frozen=True, kw_only=True)
class Batch(Told):
    decisions: tuple[Decision, ...]
    accepted: int


def drain(
    run: RunCore,
    *,
    despite_heard: bool = False,
    to_checkpoint: bool = False,
    patience: float | None = None,
) -> Flow[None]:
    """Send what is queued, up to the first pause or stop, or to a checkpoint.

    Nothing is sent while a pause was heard that nobody has waited for, unless told so.
    Raises RunPaused and whatever else concerns no single step: what could not be sent
    stays queued.
    """
    backlog = run.backlog
    yield Acquire(backlog.order)
    try:
        size = backlog.size
        while backlog.queue and (despite_heard or not backlog.held):
            reports = list(islice(backlog.queue, size))
            try:
                decisions = yield from _submit(run, reports, patience)
            except (RunPaused, Unreachable):
                raise
            except RunClosed as closed:
                run.ended = True
                for report in list(backlog.queue):
                    _settle(run, report, refusal=closed)
                continue
            except Problem as refusal:
                unfit = isinstance(refusal, _UNFIT)
                if len(reports) == 1 and (unfit or reports[0].owned):
                    _settle(run, reports[0], refusal=refusal)
                elif not unfit:
                    raise
                size = 1  # of several, find out which one it is
                continue
            _forget_outages(run)
            run.ended = False  # a manager may have reopened it
            for report, decision in zip(reports, decisions, strict=False):
                run.stepped(decision.step)
                _settle(run, report, decision=decision)
            if decisions[-1].decision in ("pause", "stop"):
                return
            if to_checkpoint and backlog.due:
                return  # else a quick agent is stopped for not having saved in time
    finally:
        backlog.order.release()


def _submit(
    run: RunCore, reports: Sequence[Report], patience: float | None
) -> Flow[Sequence[Decision]]:
    first = run.last_step + 1
    bodies = [
        {"number": first + index, **report.figures}
        for index, report in enumerate(reports)
    ]
    if len(bodies) == 1:
        request = post_safe(run.path("steps"), bodies[0])
        decision = yield from ask(run.link, Decision, request, patience=patience)
        decisions: Sequence[Decision] = [decision]
    else:
        request = post_safe(run.path("steps", "batch"), {"steps": bodies})
        batch = yield from ask(run.link, Batch, request, patience=patience)
        decisions = batch.decisions
    numbers = [decision.step for decision in decisions]
    whole = len(numbers) == len(bodies)
    early = bool(decisions) and decisions[-1].decision in ("pause", "stop")
    if numbers != [first + i for i in range(len(numbers))] or not (whole or early):
        raise ProtocolError(
            f"Reported steps from {first} to {first + len(bodies) - 1}, "
            f"told about {numbers}."
        )
    return decisions


def _settle(
    run: RunCore,
    report: Report,
    *,
    decision: Decision | None = None,
    refusal: Problem | None = None,
) -> None:
    """Whoever still waits for the report hears of it; else the next call does."""
    run.backlog.queue.remove(report)
    report.decision, report.refusal = decision, refusal
    if report.owned:
        return
    if decision is not None:
        run.backlog.heard.append(decision)
    elif refusal is not None and refusal not in run.backlog.troubles:
        run.backlog.troubles.append(refusal)


def _forget_outages(run: RunCore) -> None:
    """The server answers again: that it did not is no news any more."""
    troubles = run.backlog.troubles
    for trouble in [t for t in troubles if isinstance(t, Unreachable)]:
        troubles.remove(trouble)


def drain_apart(run: RunCore) -> Flow[None]:
    """The same beside the agent's own work: what has to be obeyed waits for its next call."""
    try:
        if not run.backlog.due:
            yield from drain(run, to_checkpoint=True)
    except RunPaused as paused:
        if paused.review is None:
            run.backlog.troubles.append(paused)
        else:
            run.backlog.heard.append(paused.review)
    except Problem as problem:
        run.backlog.troubles.append(problem)
    except (Unreachable, ProtocolError) as trouble:
        if not any(isinstance(t, type(trouble)) for t in run.backlog.troubles):
            run.backlog.troubles.append(trouble)
