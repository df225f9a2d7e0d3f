"""One decision for each trigger: judged, written down and acted on in one commit."""

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
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from loop.cycle.facts import Bench
from loop.cycle.llm_decider import Asked
from loop.cycle.record import Record, trigger_of
from loop.cycle.sense import oriented
from loop.errors import AlreadyDecided
from loop.models import ProjectLoop, Signal
from loop.runs import refuse_moved
from reviews.plan import Plan

logger = logging.getLogger(__name__)


@dataclass(kw_only=True)
class DecideSignals(ChangeRequest[int]):
    """Some triggers on one snapshot, up to the first decision that changes what it shows.

    `asked` is what a model said about the only one: never while anything is locked.
    Whatever is decided already is left alone, so that two workers may try the same.
    """

    signal_ids: Sequence[int]
    policy: LoadedPolicy
    snapshot: Snapshot
    asked: Asked | None = None

    def decide(self, run: RunState, at: datetime) -> Change[int]:
        refuse_moved(run)
        rows = Signal.objects.filter(pk__in=self.signal_ids, pending=True)
        signals = list(rows.order_by("pk"))
        if not signals:
            raise AlreadyDecided("These triggers were decided.")
        section = self.policy.policy.loop
        bench = Bench(
            loop=ProjectLoop.objects.get(pk=run.project_id),
            section=section,
            snapshot=oriented(
                self.snapshot, at=at, stale_after_s=section.stale_after_s
            ),
            signals=signals,
            at=at,
        )
        plan = Plan(run, at)
        for signal in signals:
            if self._decide(plan, signal, bench):
                break
        count = len(bench.made)
        ids = [signal.pk for signal in signals[:count]]
        done = Signal.objects.filter(pk__in=ids)
        plan.effects.append(partial(done.update, pending=False, leased_until=None))
        return plan.change(partial(_count, count))

    def _decide(self, plan: Plan, signal: Signal, bench: Bench) -> bool:
        """Whether the snapshot tells no longer how things stand."""
        proposal, trouble = self._wanted(signal, bench)
        facts = bench.facts(signal, proposal, asked=self.asked, trouble=trouble)
        record = Record(
            signal=signal,
            policy=self.policy,
            snapshot=bench.snapshot,
            proposal=proposal,
            facts=facts,
            ruled=judge_proposal(bench.section, proposal, facts),
            asked=self.asked,
        )
        row = record.write(plan)
        bench.made.append(row)
        taken_up = row.outcome == "emitted" and row.action != "start_loop"
        return taken_up or record.ruled.latched is not None

    def _wanted(
        self, signal: Signal, bench: Bench
    ) -> tuple[Proposal | None, str | None]:
        """What is proposed, or why nothing is."""
        if bench.section.decider == "llm":
            asked = self.asked or Asked()
            return asked.proposal, asked.trouble
        try:
            wanted = decide_by_rules(
                bench.section.rules,
                trigger=trigger_of(signal),
                snapshot=bench.snapshot,
            )
        except Exception as error:
            # Whatever it is: a rule that fails holds, and never lets anything through.
            logger.exception("The rules failed on %s", signal.type)
            return None, f"the rules failed: {type(error).__name__}"
        return wanted, None


def _count(count: int, _entries: Sequence[SealedEntry]) -> int:
    return count
