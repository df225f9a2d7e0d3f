"""The policy: every limit the gates compare with, and how a document becomes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from guidance.core.checks.attempts import MAX_RESETS
from guidance.core.checks.definition_reader import read_gates
from guidance.core.checks.definitions import GateDefinition
from guidance.core.document_reader import Problem, Section
from guidance.core.loop.section import LoopSection
from guidance.core.loop.section_reader import read_loop_section
from guidance.core.outcomes.section import Evaluators
from guidance.core.outcomes.section_reader import read_evaluators
from guidance.core.policy.caps import Caps, read_caps
from guidance.core.policy.limits import Limits, read_limits
from guidance.core.prices.section import Prices
from guidance.core.prices.section_reader import read_prices
from guidance.core.reviews.four_eyes import FourEyes
from guidance.core.reviews.section import ReviewRules
from guidance.core.reviews.section_reader import read_four_eyes, read_review_rules
from guidance.core.runs.measures import CYCLE_LIMIT
from guidance.core.runs.memory import TRACE_LIMIT
from guidance.core.runs.score_bands import COHERENCE_DEGRADED, UNCERTAINTY_HIGH
from guidance.core.runs.usage import Budget
from guidance.core.tools.section import ToolRules
from guidance.core.tools.section_reader import read_tool_rules
from guidance.core.turns.section import TurnRules
from guidance.core.turns.section_reader import read_turn_rules

_MANY = 1_000_000
_AMOUNT_LIMIT = 10**15
_DAY_S = 86_400
_DAY_MS = _DAY_S * 1000
_YEAR_S = 366 * _DAY_S


class PolicyError(ValueError):
    """A document that is no policy; `errors` holds every (path, message)."""

    def __init__(self, errors: tuple[Problem, ...]) -> None:
        super().__init__(
            "; ".join(f"{path or 'policy'}: {why}" for path, why in errors)
        )
        self.errors = errors


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinueLimits:
    """What the continue gate compares with."""

    max_consecutive_steps: int = 100
    checkpoint_interval_steps: int = 25
    min_coherence: float = COHERENCE_DEGRADED
    max_uncertainty: float = UNCERTAINTY_HIGH
    max_rework_ratio: float = 0.3
    rework_window: int = 20
    rework_min_steps: int = 5
    max_budget_slope: float = 0.02
    slope_window: int = 10
    slope_min_points: int = 6
    throttle_base_ms: int = 5_000
    throttle_max_ms: int = 60_000
    throttle_ignore_limit: int = 3
    repeat_limit: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRules:
    """When a run that no longer reports counts as abandoned."""

    abandon_after_s: int = _DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRules:
    """How often a person may have a gate check that ran out of attempts begin anew."""

    max_resets: int = MAX_RESETS


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    budget: Budget = field(default_factory=Budget)
    # The most that an agent may ask for when it starts a run.
    budget_ceiling: Budget = field(default_factory=Budget)
    continue_limits: ContinueLimits = field(default_factory=ContinueLimits)
    reviews: ReviewRules = field(default_factory=ReviewRules)
    runs: RunRules = field(default_factory=RunRules)
    tools: ToolRules = field(default_factory=ToolRules)
    checks: CheckRules = field(default_factory=CheckRules)
    gates: Mapping[str, GateDefinition] = field(default_factory=dict)
    evaluators: Evaluators = field(default_factory=Evaluators)
    turns: TurnRules = field(default_factory=TurnRules)
    loop: LoopSection = field(default_factory=LoopSection)
    caps: Caps = field(default_factory=Caps)
    limits: Limits = field(default_factory=Limits)
    four_eyes: FourEyes = field(default_factory=FourEyes)
    prices: Prices = field(default_factory=Prices)


def load_policy(document: Mapping[str, object]) -> Policy:
    """The policy of a document; raises PolicyError naming everything wrong with it.

    A key left out keeps its default. null is refused, so that it cannot erase one;
    only limits and a part of the budget and its ceiling may be null: unlimited.
    """
    problems: list[Problem] = []
    policy = read_policy(Section(document, path="", problems=problems))
    if problems:
        raise PolicyError(tuple(problems))
    return policy


def read_policy(root: Section) -> Policy:
    """Read every setting there is, in the order of the document."""
    budget = _read_budget(root.read_part("budget"), Budget())
    policy = Policy(
        budget=budget,
        budget_ceiling=_read_budget_ceiling(root.read_part("budget_ceiling"), budget),
        continue_limits=_read_continue_limits(root.read_part("continue")),
        reviews=read_review_rules(root.read_part("reviews")),
        runs=_read_runs(root.read_part("runs")),
        tools=read_tool_rules(root.read_part("tools")),
        checks=_read_checks(root.read_part("checks")),
        gates=read_gates(root),
        evaluators=read_evaluators(root.read_part("evaluators")),
        turns=read_turn_rules(root.read_part("turns")),
        loop=read_loop_section(root.read_part("loop")),
        caps=read_caps(root.read_part("caps")),
        limits=read_limits(root.read_part("limits")),
        four_eyes=read_four_eyes(root.read_part("four_eyes")),
        prices=read_prices(root.read_part("prices")),
    )
    root.close()
    return policy


def _read_budget(section: Section, default: Budget) -> Budget:
    high = _AMOUNT_LIMIT
    budget = Budget(
        tokens=section.read_limit("tokens", default.tokens, high=high),
        tool_calls=section.read_limit("tool_calls", default.tool_calls, high=high),
        time_ms=section.read_limit("time_ms", default.time_ms, high=high),
        cost_micros=section.read_money("cost_usd", default.cost_micros, high=high),
    )
    section.close()
    return budget


def _read_budget_ceiling(section: Section, budget: Budget) -> Budget:
    """A part that is left out is that of the budget."""
    ceiling = _read_budget(section, budget)
    for part in budget.list_parts_above(ceiling):
        name = "cost_usd" if part == "cost_micros" else part
        if section.is_valid(name):
            section.refuse(name, f"budget.{name} is more than this")
    return ceiling


def _read_continue_limits(section: Section) -> ContinueLimits:
    default = ContinueLimits()

    def whole(name: str, *, low: int, high: int) -> int:
        return section.read_integer(name, getattr(default, name), low=low, high=high)

    def share(name: str) -> float:
        return section.read_number(name, getattr(default, name), low=0, high=1)

    limits = ContinueLimits(
        max_consecutive_steps=whole("max_consecutive_steps", low=1, high=_MANY),
        checkpoint_interval_steps=whole("checkpoint_interval_steps", low=1, high=_MANY),
        min_coherence=share("min_coherence"),
        max_uncertainty=share("max_uncertainty"),
        max_rework_ratio=share("max_rework_ratio"),
        rework_window=whole("rework_window", low=1, high=TRACE_LIMIT),
        rework_min_steps=whole("rework_min_steps", low=1, high=TRACE_LIMIT),
        max_budget_slope=share("max_budget_slope"),
        slope_window=whole("slope_window", low=3, high=TRACE_LIMIT),
        # A line through two points always fits: its error needs a third.
        slope_min_points=whole("slope_min_points", low=3, high=TRACE_LIMIT),
        throttle_base_ms=whole("throttle_base_ms", low=1, high=_DAY_MS),
        throttle_max_ms=whole("throttle_max_ms", low=1, high=_DAY_MS),
        throttle_ignore_limit=whole("throttle_ignore_limit", low=1, high=_MANY),
        # One time is no repetition; the longest cycle must fit into the memory.
        repeat_limit=whole("repeat_limit", low=2, high=TRACE_LIMIT // CYCLE_LIMIT),
    )
    for small, large in (
        ("checkpoint_interval_steps", "max_consecutive_steps"),
        ("rework_min_steps", "rework_window"),
        ("slope_min_points", "slope_window"),
        ("throttle_base_ms", "throttle_max_ms"),
    ):
        least, most = getattr(limits, small), getattr(limits, large)
        if section.is_valid(small, large) and least > most:
            section.refuse(small, f"{least} is more than {large}, which is {most}")
    section.close()
    return limits


def _read_runs(section: Section) -> RunRules:
    default = RunRules()
    rules = RunRules(
        abandon_after_s=section.read_integer(
            "abandon_after_s", default.abandon_after_s, low=1, high=_YEAR_S
        ),
    )
    section.close()
    return rules


def _read_checks(section: Section) -> CheckRules:
    default = CheckRules()
    rules = CheckRules(
        max_resets=section.read_integer(
            "max_resets", default.max_resets, low=0, high=100
        ),
    )
    section.close()
    return rules
