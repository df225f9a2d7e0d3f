"""What stands between a wish and its event: every rail is looked at, the first decides.

A pure function of the policy, the wish and the facts that were read under the project's
lock, so that caps and budgets hold exactly, and a decision can be made again later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from guidance.core.loop.alerts import Alert, Latched, Standing, latch
from guidance.core.loop.guardrail_facts import Guardrail, RailFacts
from guidance.core.loop.proposals import Proposal, proposal_problem
from guidance.core.loop.section import LoopSection
from guidance.core.loop.vocabulary import DO_NOTHING
from guidance.core.money import usd

RAILS_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What comes of a wish. `harm` says why a person is asked, `latched` of an alert."""

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
    section: LoopSection, proposal: Proposal | None, facts: RailFacts
) -> Ruled:
    """The outcome of a wish; None is none at all, and then nothing can be emitted."""
    wish = proposal or Proposal(action=DO_NOTHING, reasoning="")
    latched = _latched(section, wish, facts)
    met = tuple(_met(section, proposal, facts, latched))
    harm = None
    if met:
        outcome = met[0].outcome
    elif wish.action == DO_NOTHING:
        outcome = "noop"
    else:
        harm = harm_of(section, wish)
        outcome = "approval_required" if harm else "emitted"
    acted = outcome in {"emitted", "approval_required"}
    held = any(rail.rail in {"switch", "decision"} for rail in met)
    return Ruled(
        action=DO_NOTHING if held else wish.action,
        outcome=outcome,
        reasoning=_reasoning(wish, met),
        guardrails=met or _asking(harm),
        harm=harm,
        # A repeat is joined in silence: that is no event, but it is counted.
        latched=latched if acted or (met and met[0].rail == "incident") else None,
    )


def harm_of(section: LoopSection, wish: Proposal) -> str | None:
    return section.kinds[wish.kind].harm(wish.parameters) if wish.kind else None


def cap_met(section: LoopSection, action: str, used: int) -> Guardrail | None:
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


def _met(
    section: LoopSection,
    proposal: Proposal | None,
    facts: RailFacts,
    latched: Latched | None,
) -> Iterator[Guardrail]:
    if facts.paused is not None:
        yield Guardrail(rail="switch", outcome="noop", message=facts.paused)
    if facts.asks_model:
        yield from _budget(section, facts)
    problem = facts.trouble
    if proposal is not None and problem is None:
        problem = proposal_problem(proposal, section.kinds)
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
    yield from _repeats(proposal, facts, latched)
    if facts.cascade is not None and facts.cascade >= section.cascade_limit:
        yield Guardrail(
            rail="cascade",
            outcome="rate_limited",
            message="the event that led here has led to enough decisions already",
            value=facts.cascade,
            limit=section.cascade_limit,
        )
    cap = cap_met(section, proposal.action, facts.used_this_hour)
    if cap is not None:
        yield cap


def _budget(section: LoopSection, facts: RailFacts) -> Iterator[Guardrail]:
    limit = section.cost_per_day_micros
    if limit is None:
        return
    spent = facts.spent_micros + facts.cost_micros
    if not facts.priced:
        yield Guardrail(
            rail="budget",
            outcome="budget_denied",
            message="the prices of the model are not set, so no budget can be kept",
            limit=usd(limit),
        )
    # Spending the last cent is no overrun; asking with none left is.
    elif spent > limit or facts.spent_micros >= limit:
        yield Guardrail(
            rail="budget",
            outcome="budget_denied",
            message=f"${usd(spent)} of today's ${usd(limit)} are spent on the model",
            value=usd(spent),
            limit=usd(limit),
        )


def _repeats(
    proposal: Proposal, facts: RailFacts, latched: Latched | None
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


def _latched(section: LoopSection, wish: Proposal, facts: RailFacts) -> Latched | None:
    if wish.action != "emit_alert" or facts.trouble is not None:
        return None
    if proposal_problem(wish, section.kinds) is not None:
        return None
    return latch(Alert(**wish.parameters), facts.standing or Standing())


def _asking(harm: str | None) -> tuple[Guardrail, ...]:
    if harm is None:
        return ()
    return (Guardrail(rail="approval", outcome="approval_required", message=harm),)


def _reasoning(wish: Proposal, met: tuple[Guardrail, ...]) -> str:
    """Why it was wanted, and why it did not come to it."""
    held = f"Held back: {met[0].message}." if met else ""
    return " ".join(filter(None, (wish.reasoning, held)))
