"""Judge a proposal by every guardrail; the first one that is met decides.

A pure function of the policy, the proposal and the facts that were read under the project's
lock, so that caps and budgets hold exactly, and a decision can be made again later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from guidance.core.loop.alerts import Alert, Latched, Standing, latch_alert
from guidance.core.loop.guardrail_facts import Guardrail, GuardrailFacts
from guidance.core.loop.proposals import Proposal, find_proposal_problem
from guidance.core.loop.section import LoopSection
from guidance.core.loop.vocabulary import DO_NOTHING
from guidance.core.money import format_usd

GUARDRAILS_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledProposal:
    """What a proposal leads to. `harm` says why a person is asked, `latched` what
    becomes of an alert."""

    action: str
    outcome: str
    reasoning: str
    guardrails: tuple[Guardrail, ...] = ()
    harm: str | None = None
    latched: Latched | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "action": self.action,
            "outcome": self.outcome,
            "reasoning": self.reasoning,
            "guardrails": [rail.to_json() for rail in self.guardrails],
        }


def judge_proposal(
    section: LoopSection, proposal: Proposal | None, facts: GuardrailFacts
) -> RuledProposal:
    """The outcome of a proposal; without one nothing can be emitted."""
    wanted = proposal or Proposal(action=DO_NOTHING, reasoning="")
    latched = _latch_alert(section, wanted, facts)
    met = tuple(_list_met(section, proposal, facts, latched))
    harm = None
    if met:
        outcome = met[0].outcome
    elif wanted.action == DO_NOTHING:
        outcome = "noop"
    else:
        harm = find_harm(section, wanted)
        outcome = "approval_required" if harm else "emitted"
    acted = outcome in {"emitted", "approval_required"}
    held = any(rail.rail in {"halted", "switch", "decision"} for rail in met)
    return RuledProposal(
        action=DO_NOTHING if held else wanted.action,
        outcome=outcome,
        reasoning=_build_reasoning(wanted, met),
        guardrails=met or _build_asking(harm),
        harm=harm,
        # A repeat is joined in silence: that is no event, but it is counted.
        latched=latched if acted or (met and met[0].rail == "incident") else None,
    )


def find_harm(section: LoopSection, wanted: Proposal) -> str | None:
    return (
        section.kinds[wanted.kind].find_harm(wanted.parameters) if wanted.kind else None
    )


def check_cap(section: LoopSection, action: str, used: int) -> Guardrail | None:
    cap = section.caps_per_hour[action]
    if used < cap:
        return None
    return Guardrail(
        rail="cap",
        outcome="rate_limited",
        message=f"{action} was done {used} times in the last hour, the cap is {cap}",
        value=used,
        limit=cap,
    )


def _list_met(
    section: LoopSection,
    proposal: Proposal | None,
    facts: GuardrailFacts,
    latched: Latched | None,
) -> Iterator[Guardrail]:
    if facts.halted is not None:
        yield Guardrail(rail="halted", outcome="noop", message=facts.halted)
    if facts.paused is not None:
        yield Guardrail(rail="switch", outcome="noop", message=facts.paused)
    if facts.asks_model:
        yield from _check_budget(section, facts)
    problem = facts.trouble
    if proposal is not None and problem is None:
        problem = find_proposal_problem(proposal, section.kinds)
    if problem is not None:
        yield Guardrail(rail="decision", outcome="invalid_decision", message=problem)
    if proposal is None or problem is not None or proposal.action == DO_NOTHING:
        return
    if facts.stale:
        yield Guardrail(
            rail="stale",
            outcome="invalid_decision",
            message=f"{', '.join(facts.stale)} had grown old before the decision",
            limit=section.stale_after_s,
        )
    yield from _check_repeats(proposal, facts, latched)
    if facts.cascade is not None and facts.cascade >= section.cascade_limit:
        yield Guardrail(
            rail="cascade",
            outcome="rate_limited",
            message="the event that led here has led to enough decisions already",
            value=facts.cascade,
            limit=section.cascade_limit,
        )
    cap = check_cap(section, proposal.action, facts.used_this_hour)
    if cap is not None:
        yield cap


def _check_budget(section: LoopSection, facts: GuardrailFacts) -> Iterator[Guardrail]:
    limit = section.cost_per_day_micros
    if limit is None:
        return
    spent = facts.spent_micros + facts.cost_micros
    if not facts.priced:
        yield Guardrail(
            rail="budget",
            outcome="budget_denied",
            message="the prices of the model are not set, so no budget can be kept",
            limit=format_usd(limit),
        )
    # Spending the last cent is no overrun; asking with none left is.
    elif spent > limit or facts.spent_micros >= limit:
        yield Guardrail(
            rail="budget",
            outcome="budget_denied",
            message=f"${format_usd(spent)} of today's ${format_usd(limit)} are spent on the model",
            value=format_usd(spent),
            limit=format_usd(limit),
        )


def _check_repeats(
    proposal: Proposal, facts: GuardrailFacts, latched: Latched | None
) -> Iterator[Guardrail]:
    """Notes, recommendations and alerts know themselves what was done already."""
    if latched is not None and latched.silent is not None:
        yield Guardrail(rail="incident", outcome="deduplicated", message=latched.silent)
    if facts.twin is not None and proposal.action == "start_loop":
        yield Guardrail(
            rail="dedupe",
            outcome="deduplicated",
            message="the same trigger on the same state was decided already",
            value=facts.twin,
        )
    nothing = {
        "process_notes": "no note waits any more",
        "apply_retro_recommendation": "no such recommendation waits any more",
    }.get(proposal.action)
    if nothing is not None and not facts.claimable:
        yield Guardrail(rail="work", outcome="deduplicated", message=nothing)


def _latch_alert(
    section: LoopSection, wanted: Proposal, facts: GuardrailFacts
) -> Latched | None:
    if wanted.action != "emit_alert" or facts.trouble is not None:
        return None
    if find_proposal_problem(wanted, section.kinds) is not None:
        return None
    return latch_alert(Alert(**wanted.parameters), facts.standing or Standing())


def _build_asking(harm: str | None) -> tuple[Guardrail, ...]:
    if harm is None:
        return ()
    return (Guardrail(rail="approval", outcome="approval_required", message=harm),)


def _build_reasoning(wanted: Proposal, met: tuple[Guardrail, ...]) -> str:
    """Why it was wanted, and why it did not come to it."""
    held = f"Held back: {met[0].message}." if met else ""
    return " ".join(filter(None, (wanted.reasoning, held)))
