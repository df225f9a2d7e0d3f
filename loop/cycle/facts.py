"""The facts that the guardrails compare: read under the project's lock, then put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count

from guidance.core.canonical import to_canonical_json
from guidance.core.loop.facts import Snapshot
from guidance.core.loop.guardrail_facts import GuardrailFacts
from guidance.core.loop.proposals import Proposal, find_proposal_problem
from guidance.core.loop.section import LoopSection
from guidance.core.loop.vocabulary import DO_NOTHING
from loop.cycle.llm_decider import ModelAnswer, are_prices_known
from loop.cycle.targets import ActionTarget, load_target
from loop.models import Decision, ProjectLoop, Signal
from loop.selectors import count_used_this_hour, sum_spent_today

# Outcomes of decisions that were neither held back nor invalid.
_ACTED = ("emitted", "approval_required", "approved_and_emitted", "approval_denied")


class ProposedAction(NamedTuple):
    """A trigger with the proposal made for it, or why there is none."""

    signal: Signal
    proposal: Proposal | None
    trouble: str | None = None


@dataclass(kw_only=True)
class ProjectFacts:
    """What is stored about some triggers of one project and the actions proposed for them.

    `made` are the decisions of this commit, which are not stored yet but count already.
    `targets` are by the id of a trigger, `twins` by its identity, and `cascades` by the
    id of the first decision in a chain of events.
    """

    loop: ProjectLoop
    section: LoopSection
    snapshot: Snapshot
    halted: str | None = None
    spent_micros: int = 0
    used: Counter[str] = field(default_factory=Counter)
    twins: Mapping[str, str] = field(default_factory=dict)
    cascades: Mapping[int, int] = field(default_factory=dict)
    targets: Mapping[int, ActionTarget] = field(default_factory=dict)
    made: list[Decision] = field(default_factory=list)

    def get_target(self, signal: Signal) -> ActionTarget:
        return self.targets.get(signal.pk, ActionTarget())

    def compare(
        self, proposed: ProposedAction, model_answer: ModelAnswer | None
    ) -> GuardrailFacts:
        """The facts that this proposal can be held back by."""
        by_model = self.section.decider == "llm"
        common = GuardrailFacts(
            paused=self.loop.describe_pause(),
            halted=self.halted,
            asks_model=by_model,
            priced=not by_model or are_prices_known(),
            trouble=proposed.trouble,
            spent_micros=self.spent_micros,
            cost_micros=model_answer.cost_micros if by_model and model_answer else 0,
            stale=self.snapshot.stale,
        )
        proposal = proposed.proposal
        if proposal is None or not _may_act(proposal, self.section):
            return common
        target = self.get_target(proposed.signal)
        counted = [row for row in self.made if row.counted_at is not None]
        action = proposal.action
        return replace(
            common,
            used_this_hour=self.used[action]
            + sum(row.action == action for row in counted),
            twin=self._find_twin(proposed.signal, counted),
            cascade=self._count_cascade(proposed.signal, counted),
            claimable=target.claimable,
            standing=target.standing,
        )

    def _find_twin(self, signal: Signal, counted: Sequence[Decision]) -> str | None:
        """The newest decision on the same trigger and state that was not held back."""
        here = [row for row in counted if row.identity == signal.identity]
        return str(here[-1].code) if here else self.twins.get(signal.identity)

    def _count_cascade(self, signal: Signal, counted: Sequence[Decision]) -> int | None:
        root = get_root_id(signal)
        if root is None:
            return None
        return self.cascades.get(root, 0) + sum(row.root_id == root for row in counted)


def load_facts(
    proposed: Sequence[ProposedAction],
    *,
    loop: ProjectLoop,
    section: LoopSection,
    snapshot: Snapshot,
    halted: str | None,
    at: datetime,
) -> ProjectFacts:
    """Reads only what these proposals can be held back by."""
    by_model = section.decider == "llm"
    facts = ProjectFacts(
        loop=loop,
        section=section,
        snapshot=snapshot,
        halted=halted,
        spent_micros=sum_spent_today(loop.pk, at=at) if by_model else 0,
    )
    acting = [
        (each.signal, each.proposal)
        for each in proposed
        if each.proposal is not None and _may_act(each.proposal, section)
    ]
    if acting:
        signals = [signal for signal, _ in acting]
        facts.used = count_used_this_hour(loop.pk, at=at)
        facts.twins = _find_twins(signals, facts, at=at)
        facts.cascades = _count_cascades(signals)
        facts.targets = _load_targets(acting, facts, at=at)
    return facts


def _may_act(proposal: Proposal, section: LoopSection) -> bool:
    """Not if it does nothing, or is malformed: then no rail is asked."""
    if proposal.action == DO_NOTHING:
        return False
    return find_proposal_problem(proposal, section.kinds) is None


def _load_targets(
    acting: Iterable[tuple[Signal, Proposal]], facts: ProjectFacts, *, at: datetime
) -> dict[int, ActionTarget]:
    """A burst of triggers has one and the same target: it is read once."""
    known: dict[str, ActionTarget] = {}
    targets = {}
    for signal, proposal in acting:
        key = to_canonical_json([proposal.action, proposal.parameters])
        if key not in known:
            known[key] = load_target(facts.loop, facts.section, proposal, at=at)
        targets[signal.pk] = known[key]
    return targets


def _find_twins(
    signals: Iterable[Signal], facts: ProjectFacts, *, at: datetime
) -> dict[str, str]:
    rows = Decision.objects.filter(
        project_id=facts.loop.pk,
        identity__in={signal.identity for signal in signals},
        state_hash=facts.snapshot.state_hash,
        outcome__in=_ACTED,
        decided_at__gt=at - timedelta(seconds=facts.section.dedupe_s),
    )
    found = rows.order_by("pk").values_list("identity", "code")
    return {identity: str(code) for identity, code in found}


def _count_cascades(signals: Iterable[Signal]) -> dict[int, int]:
    """How many counted decisions have come of each event."""
    roots = {get_root_id(signal) for signal in signals} - {None}
    if not roots:
        return {}
    rows = Decision.objects.filter(root_id__in=roots, counted_at__isnull=False)
    return dict(rows.values_list("root_id").annotate(count=Count("pk")))


def get_root_id(signal: Signal) -> int | None:
    """The id of the first decision in the chain of events that led to this signal."""
    cause = signal.cause
    return None if cause is None else cause.root_id or cause.pk
