"""What a policy says about reviews. Nothing but data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

ON_EXPIRY = ("abort", "stop")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSeverities:
    """Of what opens a review and says nothing itself about how severe it is."""

    pause: str = "medium"
    request: str = "medium"
    question: str = "low"
    confirmation: str = "medium"
    exhausted: str = "medium"
    loop_action: str = "high"
    policy_change: str = "high"
    plan: str = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityRules:
    """By a rule's name or its beginning and a star, else by a gate's name, else as the rule
    or the gate says itself, else by the kind of the review."""

    rules: Mapping[str, str] = field(default_factory=dict)
    gates: Mapping[str, str] = field(default_factory=dict)
    kinds: KindSeverities = field(default_factory=KindSeverities)
    # The most that an agent may ask for by itself.
    asked_at_most: str = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """Seconds from opening: when a review is late, and when it ends by itself. None: what
    is said elsewhere counts."""

    answer_within_s: int | None = None
    expires_after_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityDeadlines:
    critical: Deadline = Deadline(answer_within_s=1_800)
    high: Deadline = Deadline(answer_within_s=3_600)
    medium: Deadline = Deadline(answer_within_s=28_800)
    low: Deadline = Deadline(answer_within_s=DAY_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """What is said of a kind counts before what is said of its severity."""

    severity: SeverityDeadlines = field(default_factory=SeverityDeadlines)
    kinds: Mapping[str, Deadline] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingHours:
    """While nobody works, the time of a review stands still. Off: it always runs."""

    enabled: bool = False
    zone: str = "UTC"
    days: tuple[str, ...] = WEEKDAYS[:5]
    begin: str = "09:00"
    end: str = "17:00"
    holidays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshSignIn:
    """What is as severe as this is approved in a browser only by whoever has signed in
    there not longer ago than this."""

    severity: tuple[str, ...] = ()
    within_s: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceRules:
    """The most that a person who approves a pause may allow the run beforehand: for how
    many steps and minutes, and up to which values. No steps: nothing."""

    max_steps: int = 100
    max_minutes: int = 480
    max_uncertainty: float = 0.95
    max_rework_ratio: float = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRules:
    """When a review that nobody rules on ends, and how: never with an approval.

    `claim_lease_s` is for how long a claim holds without its claimer. `rulings_from_agents` lets a person's token rule from inside an agent's session,
    `refuse_own_agents` not on agents that the person owns, nor on the session's own one.
    """

    expires_after_s: int = DAY_S
    on_expiry: str = "abort"
    rulings_from_agents: bool = False
    refuse_own_agents: bool = True
    claim_lease_s: int = 900
    # Of programs, too; people at a screen always have to say why where it is severe.
    require_reasons: bool = False
    fresh_sign_in: FreshSignIn = field(default_factory=FreshSignIn)
    allowances: AllowanceRules = field(default_factory=AllowanceRules)
    severity: SeverityRules = field(default_factory=SeverityRules)
    deadlines: Deadlines = field(default_factory=Deadlines)
    working_hours: WorkingHours = field(default_factory=WorkingHours)

    def to_json(self) -> dict[str, Any]:
        """The section of the policy document that gives these rules again."""
        document = asdict(self)
        hours, deadlines = document["working_hours"], document["deadlines"]
        fresh = document["fresh_sign_in"]
        fresh["severity"] = list(fresh["severity"])
        for name in ("days", "holidays"):
            hours[name] = list(hours[name])
        for group in deadlines.values():
            for name, deadline in group.items():
                given = {key: each for key, each in deadline.items() if each}
                group[name] = given
        return document
