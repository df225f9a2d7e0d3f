"""Decide: one decision for each trigger, recorded and carried out in one commit."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from guidance.core.loop.facts import Snapshot
from guidance.core.loop.guardrails import judge_proposal
from guidance.core.loop.proposals import Proposal
from guidance.core.loop.rules import decide_by_rules
from guidance.selectors import LoadedPolicy
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from loop.cycle.facts import FactsReader
from loop.cycle.llm_decider import ModelAnswer
from loop.cycle.record import DecisionRecord, build_trigger
from loop.cycle.sense import mark_stale
from loop.errors import AlreadyDecided
from loop.models import ProjectLoop, Signal
from loop.runs import refuse_closed_run

logger = logging.getLogger(__name__)


@dataclass(kw_only=True)
class DecideSignals(ChangeRequest[int]):
    """Decides triggers on one snapshot, up to the first decision that changes its values.

    `model_answer` belongs to a single trigger: a model is asked before anything is locked.
    Triggers that are decided already are skipped, so two workers may try the same ones.
    """

    signal_ids: Sequence[int]
    policy: LoadedPolicy
    snapshot: Snapshot
    model_answer: ModelAnswer | None = None

    def decide(self, run: RunState, at: datetime) -> Change[int]:
        refuse_closed_run(run)
        rows = Signal.objects.filter(pk__in=self.signal_ids, pending=True)
        signals = list(rows.order_by("pk"))
        if not signals:
            raise AlreadyDecided("These triggers were decided.")
        section = self.policy.policy.loop
        reader = FactsReader(
            loop=ProjectLoop.objects.get(pk=run.project_id),
            section=section,
            snapshot=mark_stale(
                self.snapshot, at=at, stale_after_s=section.stale_after_s
            ),
            signals=signals,
            at=at,
        )
        plan = Plan(run, at)
        for signal in signals:
            if self._decide(plan, signal, reader):
                break
        count = len(reader.made)
        ids = [signal.pk for signal in signals[:count]]
        done = Signal.objects.filter(pk__in=ids)
        plan.effects.append(partial(done.update, pending=False, leased_until=None))
        return plan.change(partial(_count, count))

    def _decide(self, plan: Plan, signal: Signal, reader: FactsReader) -> bool:
        """Record one decision; returns whether it made the snapshot outdated."""
        proposal, trouble = self._get_proposal(signal, reader)
        facts = reader.read_facts(
            signal, proposal, model_answer=self.model_answer, trouble=trouble
        )
        record = DecisionRecord(
            signal=signal,
            policy=self.policy,
            snapshot=reader.snapshot,
            proposal=proposal,
            facts=facts,
            ruled=judge_proposal(reader.section, proposal, facts),
            model_answer=self.model_answer,
        )
        row = record.write(plan)
        reader.made.append(row)
        taken_up = row.outcome == "emitted" and row.action != "start_loop"
        return taken_up or record.ruled.latched is not None

    def _get_proposal(
        self, signal: Signal, reader: FactsReader
    ) -> tuple[Proposal | None, str | None]:
        """The proposal, or why there is none."""
        if reader.section.decider == "llm":
            model_answer = self.model_answer or ModelAnswer()
            return model_answer.proposal, model_answer.trouble
        try:
            wanted = decide_by_rules(
                reader.section.rules,
                trigger=build_trigger(signal),
                snapshot=reader.snapshot,
            )
        except Exception as error:
            # Whatever failed: the decision is held back, and nothing is emitted.
            logger.exception("The rules failed on %s", signal.type)
            return None, f"the rules failed: {type(error).__name__}"
        return wanted, None


def _count(count: int, _entries: Sequence[SealedEntry]) -> int:
    return count
