"""What a run would have had under a draft: its budget, and room for reviews."""

from __future__ import annotations

from dataclasses import replace

from gateway.stored_decisions import get_stored_cap
from guidance.core.policy.caps import CapReached
from guidance.core.runs.usage import Budget
from ledger.backtest.judges import Payload, PolicyPair, StoredDecision, Unknown

OTHERS_OPEN = "how many reviews others had open is not stored with it"


def build_draft_budget(item: StoredDecision) -> Budget:
    """The run's budget if it had begun under the draft.

    A part that is what the run's own policy gives comes from there; any other was asked for
    by the agent, or set by a person, and stays.
    """
    own, draft = item.policies.own.budget, item.policies.draft.budget
    budget = item.state.budget

    def choose(name: str) -> int | None:
        amount: int | None = getattr(budget, name)
        given: int | None = getattr(draft, name)
        return given if amount == getattr(own, name) else amount

    return Budget(
        tokens=choose("tokens"),
        tool_calls=choose("tool_calls"),
        time_ms=choose("time_ms"),
        cost_micros=choose("cost_micros"),
    )


def find_draft_cap(payload: Payload, pair: PolicyPair) -> CapReached | Unknown | None:
    """The cap on open reviews under the draft, as far as the entry can say.

    Only a cap that was reached is stored. Under one that leaves more room, another might
    have been reached instead.
    """
    reached = get_stored_cap(payload)
    caps, own = pair.draft.caps.open_reviews, pair.own.caps.open_reviews
    if reached is None or caps == own:
        return reached
    of_agent = reached.scope == "agent"
    limit = caps.agent if of_agent else caps.get_project_limit(reached.agents)
    kept = caps.count_kept(limit) if limit and reached.kept else 0
    if limit is None or reached.count < limit - kept:
        return Unknown(OTHERS_OPEN)
    return replace(reached, limit=limit, kept=kept)


def shorten(text: str, *, limit: int = 200) -> str:
    """One line of it, to know a decision by."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
