"""Gates on spend: the budget, steps that cost more and more, and waits not kept."""

from __future__ import annotations

from collections.abc import Callable

from guidance.core.money import format_usd
from guidance.core.number_format import format_duration, format_percent_beside
from guidance.core.policy import ContinueLimits
from guidance.core.runs.shared_limits import describe_all_reached
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.findings import Finding

_MEASURED = "time used up by the server's clock"


def check_budget(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    """One finding that names every part of which nothing is left."""
    left, whole = evidence.remaining, evidence.budget
    tokens, calls, time_ms, cost = left
    # Written out: of a generator it takes thrice as long (bench batches).
    if (
        (tokens is None or tokens > 0)
        and (calls is None or calls > 0)
        and (time_ms is None or time_ms > 0)
        and (cost is None or cost > 0)
    ):
        return None
    time = _MEASURED if evidence.is_time_measured else "time used up"
    gone = [
        (what, amount, limit, unit)
        for what, amount, limit, unit in (
            ("tokens used up", left.tokens, whole.tokens, _format_count),
            ("tool calls used up", left.tool_calls, whole.tool_calls, _format_count),
            (time, left.time_ms, whole.time_ms, format_duration),
            ("cost used up", left.cost_micros, whole.cost_micros, _format_dollars),
        )
        if amount is not None and amount <= 0
    ]
    message = "; ".join(_describe_used_up(*part) for part in gone)
    return Finding(
        gate="budget",
        decision="stop",
        message=_start_with_capital(message),
        # What remains of the first part that is used up, against the nothing allowed.
        value=gone[0][1],
        limit=0,
    )


def describe_time_over(*, limit_ms: int, reported_ms: int, running_ms: int) -> str:
    """The same words, where no step is judged."""
    measured = running_ms > reported_ms
    left = limit_ms - max(reported_ms, running_ms)
    what = _MEASURED if measured else "time used up"
    return _start_with_capital(_describe_used_up(what, left, limit_ms, format_duration))


def check_limits(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    """Limits that it shares with other runs: one finding names all that are reached."""
    reached = evidence.limits_reached
    if not reached:
        return None
    return Finding(
        gate="limits",
        decision="stop",
        message=describe_all_reached(reached),
        value=reached[0].used,
        limit=reached[0].limit,
    )


def check_slope(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    trend = evidence.trend
    most = limits.max_budget_slope
    if trend is None or not trend.significant or trend.slope <= most:
        return None
    return Finding(
        gate="slope",
        decision="throttle",
        message=(
            f"Spend rising {format_percent_beside(trend.slope, most, places=1)} a step "
            f"over the last {trend.points} steps"
        ),
        value=trend.slope,
        limit=most,
    )


def check_ignored_wait(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    """It is asked to wait once more; who never does is put before a person."""
    ignored = evidence.ignored_wait
    if ignored is None:
        return None
    most = limits.throttle_ignore_limit
    often = "" if ignored.times == 1 else f", {ignored.times} times in a row"
    return Finding(
        gate="throttle_ignored",
        decision="pause" if ignored.times >= most else "throttle",
        message=(
            f"Asked to wait {format_duration(ignored.delay_ms)}, came after "
            f"{format_duration(ignored.waited_ms)}{often}"
        ),
        value=ignored.times,
        limit=most,
    )


def _describe_used_up(
    what: str, amount: int, limit: int | None, unit: Callable[[int], str]
) -> str:
    of = "" if limit is None else f" of {unit(limit)}"
    over = f", {unit(-amount)} over" if amount < 0 else ""
    return f"{what}: {unit(0)}{of} left{over}"


def _format_count(amount: int) -> str:
    return f"{amount:,}"


def _format_dollars(micros: int) -> str:
    return f"{format_usd(micros)} USD"


def _start_with_capital(text: str) -> str:
    return text[0].upper() + text[1:]
