"""The cycle of every trigger, whatever its source: sense, decide, act, record.

Safe to run anywhere and any number of times: waiting triggers are in the database, and
the writer decides each of them once.
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
from guidance.services import DEFAULT, get_policy_in_force
from loop.cycle.decide import DecideSignals
from loop.cycle.llm_decider import ModelAnswer, are_prices_known, ask_model
from loop.cycle.record import build_trigger
from loop.cycle.sense import sense
from loop.errors import AlreadyDecided
from loop.models import Signal
from loop.runs import get_loop, perform
from loop.selectors import sum_spent_today

# Triggers decided in one commit: more would hold up other writers.
AT_ONCE = 20
# A worker has other work too: the next task decides what is left.
TURN_S = 40.0
# Beyond the longest time a model may take: then another worker may take the trigger.
LEASE_MARGIN_S = 30

logger = logging.getLogger(__name__)


def decide_pending(project_id: int, *, seconds: float = TURN_S) -> tuple[int, bool]:
    """Decide waiting triggers, oldest first: how many, and whether none is left."""
    ends = time.monotonic() + seconds
    decided = 0
    while True:
        signals = list(filter_waiting(project_id).order_by("pk")[:AT_ONCE])
        if not signals:
            return decided, True
        if time.monotonic() > ends:
            return decided, False
        policy = get_policy_in_force(project_id=project_id, name=DEFAULT)
        if policy.policy.loop.decider == "rules":
            decided += decide_signals(signals, policy, sense(project_id))
        else:
            decided += _ask_and_decide(signals[0], policy)


def filter_waiting(project_id: int) -> QuerySet[Signal]:
    """Triggers without a decision that no worker is asking a model about."""
    free = Q(leased_until__isnull=True) | Q(leased_until__lte=timezone.now())
    return Signal.objects.filter(free, project_id=project_id, pending=True)


def decide_signals(
    signals: Sequence[Signal],
    policy: LoadedPolicy,
    snapshot: Snapshot,
    *,
    model_answer: ModelAnswer | None = None,
) -> int:
    """Returns how many this call decided; another worker may have been faster."""
    ids = [signal.pk for signal in signals]
    try:
        return perform(
            signals[0].project_id,
            lambda run: DecideSignals(
                run_code=run,
                signal_ids=ids,
                policy=policy,
                snapshot=snapshot,
                model_answer=model_answer,
            ),
        )
    except AlreadyDecided:
        return 0


def _ask_and_decide(signal: Signal, policy: LoadedPolicy) -> int:
    if not _lease(signal):
        return 0
    section = policy.policy.loop
    snapshot = sense(signal.project_id)
    model_answer = None
    if _is_worth_asking(signal.project_id, section):
        trigger = build_trigger(signal)
        try:
            model_answer = ask_model(section, trigger=trigger, snapshot=snapshot)
        except Exception as error:
            # Whatever failed: the trigger gets its decision, and nothing is emitted.
            logger.exception("Asking a model about %s failed", signal.type)
            model_answer = ModelAnswer(trouble=f"asking failed: {type(error).__name__}")
    return decide_signals([signal], policy, snapshot, model_answer=model_answer)


def _is_worth_asking(project_id: int, section: LoopSection) -> bool:
    """Not while paused, without budget, or without known prices."""
    if get_loop(project_id).paused_at is not None:
        return False
    limit = section.cost_per_day_micros
    return limit is None or (
        are_prices_known() and sum_spent_today(project_id, at=timezone.now()) < limit
    )


def _lease(signal: Signal) -> bool:
    """Reserve the trigger for this worker; False if another one has it."""
    # A question may wait as long for its turn as for its answer.
    longest = 2 * settings.LLM["timeout_s"] if settings.LLM else 0
    until = timezone.now() + timedelta(seconds=longest + LEASE_MARGIN_S)
    ours = filter_waiting(signal.project_id).filter(pk=signal.pk)
    return bool(ours.update(leased_until=until))
