"""Sense, orient, decide, act, learn: the one way of every trigger, whatever its source.

Safe to run anywhere and as often as anybody likes: what waits is in the database, and
the writer decides each trigger once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from guidance.core.loop.facts import Snapshot
from guidance.core.loop.section import LoopSection
from guidance.selectors import LoadedPolicy
from guidance.services import DEFAULT, policy_in_force
from loop.cycle.decide import DecideSignals
from loop.cycle.facts import spent_today
from loop.cycle.llm_decider import Asked, ask_model, prices_known
from loop.cycle.record import trigger_of
from loop.cycle.sense import sense
from loop.errors import AlreadyDecided
from loop.models import Signal
from loop.runs import loop_of, perform

# So many triggers are decided in one commit: more would hold up other writers.
AT_ONCE = 20
# A worker has other work too: what is left is told to be done by the next task.
TURN_S = 40.0
# Beyond the longest that a model may take: a worker that died leaves its trigger.
LEASE_MARGIN_S = 30

logger = logging.getLogger(__name__)


def decide_pending(project_id: int, *, seconds: float = TURN_S) -> tuple[int, bool]:
    """Decide what waits, oldest first; how many were, and whether nothing is left."""
    ends = time.monotonic() + seconds
    decided = 0
    while True:
        signals = list(waiting(project_id).order_by("pk")[:AT_ONCE])
        if not signals:
            return decided, True
        if time.monotonic() > ends:
            return decided, False
        policy = policy_in_force(project_id=project_id, name=DEFAULT)
        if policy.policy.loop.decider == "rules":
            decided += decide_signals(signals, policy, sense(project_id))
        else:
            decided += _ask_and_decide(signals[0], policy)


def waiting(project_id: int) -> QuerySet[Signal]:
    """Triggers without a decision that nobody is asking a model about."""
    free = Q(leased_until__isnull=True) | Q(leased_until__lte=timezone.now())
    return Signal.objects.filter(free, project_id=project_id, pending=True)


def decide_signals(
    signals: Sequence[Signal],
    policy: LoadedPolicy,
    snapshot: Snapshot,
    *,
    asked: Asked | None = None,
) -> int:
    """How many this call decided: somebody else may have been faster."""
    ids = [signal.pk for signal in signals]
    try:
        return perform(
            signals[0].project_id,
            lambda run: DecideSignals(
                run_code=run,
                signal_ids=ids,
                policy=policy,
                snapshot=snapshot,
                asked=asked,
            ),
        )
    except AlreadyDecided:
        return 0


def _ask_and_decide(signal: Signal, policy: LoadedPolicy) -> int:
    if not _lease(signal):
        return 0
    section = policy.policy.loop
    snapshot = sense(signal.project_id)
    asked = None
    if _worth_asking(signal.project_id, section):
        trigger = trigger_of(signal)
        try:
            asked = ask_model(section, trigger=trigger, snapshot=snapshot)
        except Exception as error:
            # Whatever it is: the trigger has its decision, and nothing is let through.
            logger.exception("Asking a model about %s failed", signal.type)
            asked = Asked(trouble=f"asking failed: {type(error).__name__}")
    return decide_signals([signal], policy, snapshot, asked=asked)


def _worth_asking(project_id: int, section: LoopSection) -> bool:
    """Not where nothing could come of it: paused, no budget left, no prices known."""
    if loop_of(project_id).paused_at is not None:
        return False
    limit = section.cost_per_day_micros
    return limit is None or (
        prices_known() and spent_today(project_id, at=timezone.now()) < limit
    )


def _lease(signal: Signal) -> bool:
    """Ours to ask about until the lease ends; False if it is somebody else's."""
    # A question waits for a place as long as for its answer.
    longest = 2 * settings.LLM["timeout_s"] if settings.LLM else 0
    until = timezone.now() + timedelta(seconds=longest + LEASE_MARGIN_S)
    ours = waiting(signal.project_id).filter(pk=signal.pk)
    return bool(ours.update(leased_until=until))
