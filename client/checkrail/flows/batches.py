"""Steps that are queued and sent in the background, many in one request.

The gates answer late: between a step and its decision the agent has gone on. What was
decided meanwhile is obeyed at the next call, whichever that is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checkrail.flows.rulings import get_deadline
from checkrail.flows.run_core import RunCore
from checkrail.flows.step_queue import BATCH_LIMIT
from checkrail.flows.steps import build_report, catch_up, obey_pending
from checkrail.intents import Intent
from checkrail.money import Money
from checkrail.transport.effects import Flow

# So many batches may wait to be sent; then a step waits, too.
MOST_BATCHES_QUEUED = 10


class BatchedCore(RunCore):
    """`wake` is called when the queue is long enough to be sent."""

    wake: Callable[[], object]


def check_batch_size(steps: int) -> int:
    if not 2 <= steps <= BATCH_LIMIT:
        raise ValueError(f"batch_steps is 2 to {BATCH_LIMIT}, not {steps}.")
    return steps


def queue_step(
    run: BatchedCore,
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
) -> Flow[None]:
    """Queue one step; first obey what was decided about earlier ones.

    The decision on this step comes late: it is obeyed, or raised, at a later call.
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
    until = get_deadline(run, timeout)
    backlog = run.backlog
    backlog.steps.append(report)
    try:
        yield from obey_pending(run, until)
        if len(backlog.steps) >= backlog.batch_size * MOST_BATCHES_QUEUED:
            yield from catch_up(run, until)
        elif len(backlog.steps) >= backlog.batch_size:
            run.wake()
    finally:
        run.timer.begin()


def flush(run: RunCore, *, timeout: float | None = None) -> Flow[None]:
    """Send what is queued, now, and obey what is decided."""
    yield from catch_up(run, get_deadline(run, timeout))
