"""Decide: one decision for each trigger, recorded and carried out in one commit."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from guidance.core.loop.facts import Snapshot
from guidance.core.loop.guardrails import judge_proposal
from guidance.core.loop.rules import decide_by_rules
from guidance.selectors import LoadedPolicy
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from ledger.writer.halts import read_halts
from loop.cycle.facts import ProjectFacts, ProposedAction, load_facts
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

    facts: ProjectFacts = field(init=False)
    proposed: list[ProposedAction] = field(default_factory=list, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        """Proposals are made here, since they say what has to be read."""
        rows = Signal.objects.filter(pk__in=self.signal_ids, pending=True)
        section = self.policy.policy.loop
        snapshot = mark_stale(self.snapshot, at=at, stale_after_s=section.stale_after_s)
        self.proposed = [
            self._propose(signal, snapshot)
            for signal in rows.select_related("cause").order_by("pk")
        ]
        self.facts = load_facts(
            self.proposed,
            loop=ProjectLoop.objects.select_related("paused_by").get(pk=run.project_id),
            section=section,
            snapshot=snapshot,
            halted=_describe_halt(run) if self.halted else None,
            at=at,
        )

    def decide(self, run: RunState, at: datetime) -> Change[int]:
        refuse_closed_run(run)
        if not self.proposed:
            raise AlreadyDecided("These triggers were decided.")
        plan = Plan(run, at)
        for proposed in self.proposed:
            if self._decide(plan, proposed):
                break
        count = len(self.facts.made)
        ids = [each.signal.pk for each in self.proposed[:count]]
        done = Signal.objects.filter(pk__in=ids)
        plan.side_updates.append(partial(done.update, pending=False, leased_until=None))
        return plan.change(partial(_count, count))

    def _decide(self, plan: Plan, proposed: ProposedAction) -> bool:
        """Record one decision; returns whether it made the snapshot outdated."""
        proposal = proposed.proposal
        facts = self.facts.compare(proposed, self.model_answer)
        record = DecisionRecord(
            signal=proposed.signal,
            policy=self.policy,
            snapshot=self.facts.snapshot,
            proposal=proposal,
            facts=facts,
            target=self.facts.get_target(proposed.signal),
            ruled=judge_proposal(self.facts.section, proposal, facts),
            model_answer=self.model_answer,
        )
        row = record.write(plan)
        self.facts.made.append(row)
        taken_up = row.outcome == "emitted" and row.action != "start_loop"
        return taken_up or record.ruled.latched is not None

    def _propose(self, signal: Signal, snapshot: Snapshot) -> ProposedAction:
        section = self.policy.policy.loop
        if section.decider == "llm":
            model_answer = self.model_answer or ModelAnswer()
            return ProposedAction(signal, model_answer.proposal, model_answer.trouble)
        try:
            wanted = decide_by_rules(
                section.rules, trigger=build_trigger(signal), snapshot=snapshot
            )
        except Exception as error:
            # Whatever failed: the decision is held back, and nothing is emitted.
            logger.exception("The rules failed on %s", signal.type)
            trouble = f"the rules failed: {type(error).__name__}"
            return ProposedAction(signal, None, trouble)
        return ProposedAction(signal, wanted)


def _describe_halt(run: RunState) -> str | None:
    halt = read_halts(run.project_id).find(run)
    return None if halt is None else f"halted by {halt.by}: {halt.reason}"


def _count(count: int, _entries: Sequence[SealedEntry]) -> int:
    return count
