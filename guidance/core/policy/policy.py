"""The policy: every limit the gates compare with, and how a document becomes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.checks.attempts import MAX_RESETS
from guidance.core.checks.definition_reader import GATE_WORDS, read_gates
from guidance.core.checks.definitions import GateDefinition
from guidance.core.document_reader import Problem, Section
from guidance.core.loop.section import LoopSection
from guidance.core.outcomes.section import Evaluators
from guidance.core.policy.caps import Caps
from guidance.core.policy.limits import Limits, describe_amounts, read_amounts
from guidance.core.prices.section import Prices
from guidance.core.reviews.four_eyes import FourEyes
from guidance.core.reviews.section import ReviewRules
from guidance.core.runs.measures import CYCLE_LIMIT
from guidance.core.runs.memory import TRACE_LIMIT
from guidance.core.runs.score_bands import COHERENCE_DEGRADED, UNCERTAINTY_HIGH
from guidance.core.runs.usage import Budget
from guidance.core.settings import (
    Known,
    Words,
    collect_words,
    declare,
    part,
    read_settings,
    share,
    whole,
)
from guidance.core.tools.section import ToolRules
from guidance.core.turns.section import TurnRules

_MANY = 1_000_000
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
    """The limits that the continue gate compares with."""

    max_consecutive_steps: int = whole(
        100,
        "Steps without a checkpoint",
        "More of them stop the run.",
        low=1,
        high=_MANY,
        unit="steps",
        lower="Stops",
    )
    checkpoint_interval_steps: int = whole(
        25,
        "Checkpoint interval",
        "A checkpoint is due after so many; at most max_consecutive_steps.",
        low=1,
        high=_MANY,
        unit="steps",
        at_most="max_consecutive_steps",
    )
    min_coherence: float = share(
        COHERENCE_DEGRADED,
        "Coherence floor",
        "A lower score stops.",
        unit="score",
        higher="Stops",
    )
    max_uncertainty: float = share(
        UNCERTAINTY_HIGH,
        "Uncertainty limit",
        "A higher score pauses.",
        unit="score",
        lower="Pauses",
    )
    max_rework_ratio: float = share(
        0.3,
        "Rework limit",
        "A larger share of the window that redoes earlier work pauses.",
        lower="Pauses",
    )
    rework_window: int = whole(
        20,
        "Rework window",
        "The share is that of so many last steps.",
        low=1,
        high=TRACE_LIMIT,
        unit="steps",
    )
    rework_min_steps: int = whole(
        5,
        "Rework from",
        "Fewer steps are not judged; at most rework_window.",
        low=1,
        high=TRACE_LIMIT,
        unit="steps",
        at_most="rework_window",
    )
    max_budget_slope: float = share(
        0.02,
        "Growth limit",
        "Tokens that grow faster from step to step throttle.",
        lower="Slows down",
    )
    slope_window: int = whole(
        10,
        "Growth window",
        "The growth is that of so many last steps.",
        low=3,
        high=TRACE_LIMIT,
        unit="steps",
    )
    # A line through two points always fits: its error needs a third.
    slope_min_points: int = whole(
        6,
        "Growth from",
        "Fewer steps are not judged; at most slope_window.",
        low=3,
        high=TRACE_LIMIT,
        unit="steps",
        at_most="slope_window",
    )
    throttle_base_ms: int = whole(
        5_000,
        "First delay",
        "Doubled with each throttle in a row; at most throttle_max_ms.",
        low=1,
        high=_DAY_MS,
        unit="ms",
        at_most="throttle_max_ms",
    )
    throttle_max_ms: int = whole(
        60_000, "Longest delay", "No delay is longer.", low=1, high=_DAY_MS, unit="ms"
    )
    throttle_ignore_limit: int = whole(
        3,
        "Ignored delays",
        "So many in a row that are not waited out pause.",
        low=1,
        high=_MANY,
        unit="times",
        lower="Pauses",
    )
    # One time is no repetition; the longest cycle must fit into the memory.
    repeat_limit: int = whole(
        3,
        "Repetitions",
        "The same step, turn or cycle so many times in a row pauses.",
        low=2,
        high=TRACE_LIMIT // CYCLE_LIMIT,
        unit="times",
        lower="Pauses",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRules:
    """When a run that no longer reports counts as abandoned."""

    abandon_after_s: int = whole(
        _DAY_S,
        "Abandoned after",
        "A running run that reports nothing for so long ends.",
        low=1,
        high=_YEAR_S,
        unit="s",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRules:
    """How often a person may have a gate check that ran out of attempts begin anew."""

    max_resets: int = whole(
        MAX_RESETS,
        "Retries by people",
        "How often a person may choose retry when all attempts are used up.",
        low=0,
        high=100,
        unit="times",
    )


def _read_budget(section: Section, key: str, usual: Budget, _: Known) -> Budget:
    return read_amounts(section.read_part(key), usual)


def _read_ceiling(section: Section, key: str, _: Budget, known: Known) -> Budget:
    """A part that is left out is that of the budget."""
    part, budget = section.read_part(key), known["budget"]
    ceiling = read_amounts(part, budget)
    for name in budget.list_parts_above(ceiling):
        amount = "cost_usd" if name == "cost_micros" else name
        if part.is_valid(amount):
            part.refuse(amount, f"budget.{amount} is more than this")
    return ceiling


def _read_gates(
    section: Section, _key: str, _usual: Any, _known: Known
) -> dict[str, GateDefinition]:
    return read_gates(section)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    budget: Budget = declare(
        Budget,
        "Budget",
        "What a run may use where it brings no budget itself.",
        read=_read_budget,
        lower="Stops",
        inside=describe_amounts(
            tokens="Of all steps; null is no limit.",
            tool_calls="Granted or reported; null is no limit.",
            time_ms="While it runs, or as reported, whichever is more; null is no limit.",
            cost_usd="What the steps cost, as reported; null is no limit.",
        ),
    )
    # The most that an agent may ask for when it starts a run.
    budget_ceiling: Budget = declare(
        Budget,
        "Budget ceiling",
        "The most that an agent may ask for when it starts a run; left out: the budget.",
        read=_read_ceiling,
        inside={
            name: replace(words, default_from=f"budget.{name}")
            for name, words in describe_amounts().items()
        },
    )
    continue_limits: ContinueLimits = part(
        ContinueLimits, "Steps", "When an agent may go on after a step.", key="continue"
    )
    reviews: ReviewRules = part(
        ReviewRules, "Reviews", "How long a review waits, and how it ends then."
    )
    runs: RunRules = part(
        RunRules, "Silent runs", "When a run that reports nothing any more ends."
    )
    tools: ToolRules = part(
        ToolRules, "Tool calls", "How calls are judged before they run."
    )
    checks: CheckRules = part(
        CheckRules, "Gate checks", "How often a check may begin anew."
    )
    gates: Mapping[str, GateDefinition] = declare(
        dict,
        "Quality gates",
        "What a gate check may name, by id.",
        read=_read_gates,
        inside=GATE_WORDS,
    )
    evaluators: Evaluators = part(
        Evaluators, "Evaluators", "What judges a run when it finishes."
    )
    turns: TurnRules = part(
        TurnRules, "Turns", "When an agent that stopped too early is sent on."
    )
    loop: LoopSection = part(
        LoopSection,
        "System loop",
        "What it may do by itself, and what holds it back.",
    )
    caps: Caps = part(
        Caps,
        "Caps",
        "How much may be open at once. Read from the policy default, for all runs.",
    )
    limits: Limits = part(
        Limits,
        "Shared limits",
        "What all runs of an agent or of the project may use together, by day and month "
        "in UTC.",
    )
    four_eyes: FourEyes = part(FourEyes, "Four eyes", "What takes several people.")
    prices: Prices = part(
        Prices,
        "Prices",
        "What models cost; of a model without a price no cost is known.",
    )


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
    return read_settings(root, Policy)


# What every setting is called and says, by its path; a star stands for the name or the
# number of one of several.
WORDS: Mapping[str, Words] = collect_words(Policy)
