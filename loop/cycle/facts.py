"""The facts that the rails compare, read under the project's lock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property

from common.ids import parse_code
from guidance.core.loop.alerts import Standing
from guidance.core.loop.facts import Snapshot
from guidance.core.loop.guardrail_facts import GuardrailFacts
from guidance.core.loop.proposals import Proposal, find_proposal_problem
from guidance.core.loop.section import LoopSection
from guidance.core.loop.vocabulary import DO_NOTHING
from loop.cycle.llm_decider import ModelAnswer, are_prices_known
from loop.models import (
    Decision,
    Incident,
    Note,
    NoteState,
    ProjectLoop,
    Recommendation,
    RecommendationState,
    Signal,
)
from loop.selectors import count_used_this_hour, get_midnight, sum_spent_today

# Outcomes of decisions that were neither held back nor invalid.
_ACTED = ("emitted", "approval_required", "approved_and_emitted", "approval_denied")


@dataclass(kw_only=True)
class FactsReader:
    """Reads what the rails compare for some triggers of one project.

    `made` are the decisions of this commit, which are not stored yet but count already.
    """

    loop: ProjectLoop
    section: LoopSection
    snapshot: Snapshot
    signals: Sequence[Signal]
    at: datetime
    made: list[Decision] = field(default_factory=list)

    def read_facts(
        self,
        signal: Signal,
        proposal: Proposal | None,
        *,
        model_answer: ModelAnswer | None = None,
        trouble: str | None = None,
    ) -> GuardrailFacts:
        """Reads only what this proposal can be held back by."""
        by_model = self.section.decider == "llm"
        common = GuardrailFacts(
            paused=self.loop.describe_pause(),
            asks_model=by_model,
            priced=not by_model or are_prices_known(),
            trouble=trouble,
            spent_micros=sum_spent_today(self.loop.pk, at=self.at) if by_model else 0,
            cost_micros=model_answer.cost_micros if by_model and model_answer else 0,
            stale=self.snapshot.stale,
        )
        if proposal is None or proposal.action == DO_NOTHING:
            return common
        if find_proposal_problem(proposal, self.section.kinds) is not None:
            return common
        return replace(
            common,
            used_this_hour=self._used[proposal.action]
            + sum(row.action == proposal.action for row in self._counted),
            twin=self._find_twin(signal),
            cascade=self._count_cascade(signal),
            claimable=_list_claimable(self.section, self.loop.pk, proposal),
            standing=_get_standing(self.loop, proposal, at=self.at),
        )

    @cached_property
    def _used(self) -> Counter[str]:
        return count_used_this_hour(self.loop.pk, at=self.at)

    @property
    def _counted(self) -> list[Decision]:
        return [row for row in self.made if row.counted_at is not None]

    @cached_property
    def _twins(self) -> dict[str, str]:
        since = self.at - timedelta(seconds=self.section.dedupe_s)
        rows = Decision.objects.filter(
            project_id=self.loop.pk,
            identity__in={signal.identity for signal in self.signals},
            state_hash=self.snapshot.state_hash,
            outcome__in=_ACTED,
            decided_at__gt=since,
        ).order_by("pk")
        return {
            identity: str(code)
            for identity, code in rows.values_list("identity", "code")
        }

    def _find_twin(self, signal: Signal) -> str | None:
        """The newest decision on the same trigger and state that was not held back."""
        here = [r for r in self._counted if r.identity == signal.identity]
        return str(here[-1].code) if here else self._twins.get(signal.identity)

    def _count_cascade(self, signal: Signal) -> int | None:
        root = get_root_id(signal)
        if root is None:
            return None
        before = Decision.objects.filter(root_id=root, counted_at__isnull=False)
        return before.count() + sum(row.root_id == root for row in self._counted)


def get_root_id(signal: Signal) -> int | None:
    """The id of the first decision in the chain of events that led to this signal."""
    cause = signal.cause
    return None if cause is None else cause.root_id or cause.pk


def _list_claimable(
    section: LoopSection, project_id: int, proposal: Proposal
) -> tuple[str, ...]:
    if proposal.action == "process_notes":
        notes = Note.objects.filter(project_id=project_id, state=NoteState.QUEUED)
        codes = notes.order_by("pk").values_list("code", flat=True)
        return tuple(map(str, codes[: section.notes_at_once]))
    if proposal.action == "apply_retro_recommendation":
        pending = Recommendation.objects.filter(
            project_id=project_id, state=RecommendationState.PENDING
        ).order_by("pk")
        named = proposal.parameters.get("recommendation")
        if named is not None:
            code = parse_code(named)
            pending = pending.filter(code__in=[code] if code else [])
        return tuple(map(str, pending.values_list("code", flat=True)[:1]))
    return ()


def _get_standing(
    loop: ProjectLoop, proposal: Proposal, *, at: datetime
) -> Standing | None:
    if proposal.action != "emit_alert":
        return None
    incidents = Incident.objects.filter(project_id=loop.pk)
    newest = (
        incidents.filter(condition=proposal.parameters["condition"])
        .order_by("-pk")
        .first()
    )
    today = get_midnight(at)
    return Standing(
        code=str(newest.code) if newest else None,
        is_open=newest is not None and newest.resolved_at is None,
        content=(newest.severity, newest.title, newest.detail) if newest else None,
        changed_today=_is_since(newest.changed_at if newest else None, today),
        told_well_today=_is_since(loop.well_told_at, today),
        others_open=incidents.filter(resolved_at__isnull=True).count(),
    )


def _is_since(moment: datetime | None, start: datetime) -> bool:
    return moment is not None and moment >= start
