"""The limits of a policy whose measure is stored with every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal

from guidance.core.money import format_usd, parse_usd
from guidance.core.policy import Policy
from guidance.core.runs.usage import Budget

Metrics = Mapping[str, Any]
Number = int | float
Measure = Callable[[Metrics, Budget, Policy], Number | None]

# So many values of a limit are compared, each with what it would have led to.
VALUES = 100
_CENT = 10_000
_COST = "budget.cost_usd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """`bound` says whether more than the limit trips, as much as the limit, or less.

    `measure` reads the figure that the gate compares, None where it judged nothing.
    `measured_by` are settings without which the figure means something else.
    """

    setting: str
    gate: str
    decision: str
    bound: Literal["above", "from", "below"]
    measure: Measure
    list_values: Callable[[Policy], tuple[Number, ...]]
    get_value: Callable[[Policy], Number | None]
    measured_by: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, str]:
        """Section and name in a policy document."""
        section, _, name = self.setting.partition(".")
        return section, name

    def is_comparable(self, own: Policy, other: Policy) -> bool:
        return all(
            getattr(own.continue_limits, name) == getattr(other.continue_limits, name)
            for name in self.measured_by
        )

    def write_value(self, value: Number) -> Number | str:
        """As a policy document has it."""
        return format_usd(int(value)) if self.setting == _COST else value

    def read_value(self, written: Number | str) -> Number:
        return parse_usd(written) if isinstance(written, str) else written


def set_limit(
    document: Mapping[str, Any], limit: Limit, value: Number
) -> dict[str, Any]:
    """The document with another value of this one setting."""
    section, name = limit.keys
    changed = {**(document.get(section) or {}), name: limit.write_value(value)}
    return {**document, section: changed}


def _build_score(
    name: str,
    *,
    gate: str,
    metric: str,
    decision: str,
    bound: Literal["above", "below"] = "above",
    top: float = 1.0,
    only_if: str = "",
    measured_by: tuple[str, ...] = (),
) -> Limit:
    def measure(metrics: Metrics, _budget: Budget, _own: Policy) -> Number | None:
        if gate in metrics["not_evaluated"] or (only_if and not metrics[only_if]):
            return None
        value: Number | None = metrics[metric]
        return value

    get_value = attrgetter(f"continue_limits.{name}")

    def list_values(policy: Policy) -> tuple[Number, ...]:
        # Divided, not multiplied: 30 / 100 is the number that people write as 0.3.
        steps = round(VALUES / top)
        values = {each / steps for each in range(VALUES + 1)}
        return tuple(sorted({*values, get_value(policy)}))

    return Limit(
        setting=f"continue.{name}",
        gate=gate,
        decision=decision,
        bound=bound,
        measure=measure,
        list_values=list_values,
        get_value=get_value,
        measured_by=measured_by,
    )


def _build_step_limit() -> Limit:
    def measure(metrics: Metrics, _budget: Budget, _own: Policy) -> Number | None:
        since: int = metrics["steps_since_checkpoint"]
        return since

    def list_values(policy: Policy) -> tuple[Number, ...]:
        """From the checkpoint interval on, which cannot be longer."""
        limits = policy.continue_limits
        low, high = limits.checkpoint_interval_steps, 2 * limits.max_consecutive_steps
        stride = max(1, -(-(high - low) // VALUES))
        return tuple(
            sorted({*range(low, high + 1, stride), limits.max_consecutive_steps})
        )

    return Limit(
        setting="continue.max_consecutive_steps",
        gate="step_limit",
        decision="stop",
        bound="from",
        measure=measure,
        list_values=list_values,
        get_value=attrgetter("continue_limits.max_consecutive_steps"),
    )


def _build_budget(name: str, *, part: str, unit: int = 1) -> Limit:
    """Only lower values are looked at: how much more a run would have used that was
    stopped at its limit is not known."""
    get_part = attrgetter(part)

    def measure(metrics: Metrics, budget: Budget, own: Policy) -> Number | None:
        limit: int | None = get_part(budget)
        left = {
            key: parse_usd(amount) if key == "cost_usd" else amount
            for key, amount in metrics["budget_remaining"].items()
            if amount is not None
        }
        # What the agent asked for itself, or a person gave, no policy changes.
        if limit is None or limit != get_part(own.budget):
            return None
        if any(amount == 0 for key, amount in left.items() if key != name):
            return None  # another part stops it, whatever this one is
        return limit - left[name]

    def list_values(policy: Policy) -> tuple[Number, ...]:
        today: int | None = get_part(policy.budget)
        if today is None:
            return ()
        parts = {today * each // VALUES // unit * unit for each in range(1, VALUES)}
        return tuple(sorted({each for each in parts if each} | {today}))

    return Limit(
        setting=f"budget.{name}",
        gate="budget",
        decision="stop",
        bound="from",
        measure=measure,
        list_values=list_values,
        get_value=attrgetter(f"budget.{part}"),
    )


LIMITS: tuple[Limit, ...] = (
    _build_score(
        "max_rework_ratio",
        gate="rework",
        metric="rework_ratio",
        decision="pause",
        measured_by=("rework_window", "rework_min_steps"),
    ),
    _build_score(
        "max_uncertainty",
        gate="uncertainty",
        metric="uncertainty",
        decision="pause",
        # A repeated step makes a run less certain.
        measured_by=("repeat_limit",),
    ),
    _build_score(
        "min_coherence",
        gate="coherence",
        metric="coherence",
        decision="stop",
        bound="below",
    ),
    _build_score(
        "max_budget_slope",
        gate="slope",
        metric="budget_slope",
        decision="throttle",
        top=0.2,
        only_if="budget_slope_significant",
        measured_by=("slope_window", "slope_min_points"),
    ),
    _build_step_limit(),
    _build_budget("tokens", part="tokens"),
    _build_budget("tool_calls", part="tool_calls"),
    _build_budget("time_ms", part="time_ms"),
    _build_budget("cost_usd", part="cost_micros", unit=_CENT),
)


def get_limit(setting: str) -> Limit:
    return next(limit for limit in LIMITS if limit.setting == setting)
