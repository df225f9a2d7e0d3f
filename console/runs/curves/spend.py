"""What a run has spent, step by step, where that leads, and its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from console.charts.lines import Limit, Line
from console.charts.scale import build_scale
from console.format import format_compact, format_money
from console.runs.curves.sampling import SampledSteps
from console.runs.curves.shown import HEIGHT, Curve, build_plot_of_steps
from ledger.models import Run

# The newest points say where it leads, for so large a part of what is drawn.
_PACE_POINTS = 10
_AHEAD = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    title: str
    used: int
    limit: int | None
    parts: Sequence[int]
    write: Callable[[float], str]


def _write_money(value: float) -> str:
    return format_money(round(value))


def _write_tokens(value: float) -> str:
    return format_compact(round(value))


def build_spend_curve(run: Run, steps: SampledSteps) -> Curve:
    """In dollars; in tokens where the agent reports no cost."""
    if run.cost_micros_used:
        measure = _Measure(
            title="Spend",
            used=run.cost_micros_used,
            limit=run.cost_micros_limit,
            parts=[point.cost_micros for point in steps.points],
            write=_write_money,
        )
    else:
        measure = _Measure(
            title="Tokens",
            used=run.tokens_used,
            limit=run.tokens_limit,
            parts=[point.tokens for point in steps.points],
            write=_write_tokens,
        )
    return _build_curve(measure, run, [point.number for point in steps.points])


def _build_curve(measure: _Measure, run: Run, numbers: Sequence[int]) -> Curve:
    levels = _list_levels(measure)
    goes_on = run.status in {"running", "paused"}
    ahead = _list_projected(levels, measure.limit) if goes_on else []
    rest: list[None] = [None] * len(ahead)
    lines = [Line(tone="accent", values=[*levels, *rest], filled=True, dotted=True)]
    reached = None
    if ahead:
        before: list[None] = [None] * (len(levels) - 1)
        lines.append(Line(tone="proj", values=[*before, levels[-1], *ahead]))
        reached = _find_reached(levels, ahead, measure.limit)
    limit, write = measure.limit, measure.write
    about = (
        f"{measure.title}, steps {numbers[0]} to {numbers[-1]}: {write(measure.used)}"
    )
    beside = ""
    if limit is not None:
        beside = f"of {write(limit)}"
        about += f" of {write(limit)}"
    if reached is not None:
        step = round(numbers[-1] * reached / (len(levels) - 1))
        beside += f", used up at about step {step:,}"
        about += f", at this pace used up at about step {step:,}"
    return Curve(
        title=measure.title,
        figure=write(measure.used),
        tone="stop" if limit is not None and measure.used >= limit else "",
        beside=beside,
        about=about,
        plot=build_plot_of_steps(
            lines,
            numbers=numbers,
            named=(),
            scale=build_scale(max(measure.used, limit or 0), height=HEIGHT),
            limit=_build_limit(measure, reached),
            about=about,
            write=write,
            columns=("Used up to here",),
            table=(levels,),
        ),
    )


def _build_limit(measure: _Measure, reached: float | None) -> Limit | None:
    if measure.limit is None:
        return None
    words = f"run budget {measure.write(measure.limit)}"
    return Limit(value=measure.limit, label=words, reached=reached)


def _list_levels(measure: _Measure) -> list[float]:
    """What was used after each point. Steps that were left out, and what the server itself
    spent, are shared out over those that are drawn: the end is exact."""
    known = list(accumulate(measure.parts))
    if not known[-1]:
        last = len(known) - 1
        return [measure.used * place / last for place in range(len(known))]
    return [measure.used * each / known[-1] for each in known]


def _list_projected(levels: Sequence[float], limit: int | None) -> list[float]:
    newest = levels[-_PACE_POINTS:]
    pace = (newest[-1] - newest[0]) / max(len(newest) - 1, 1)
    if not pace or limit is None or levels[-1] >= limit:
        return []
    count = max(round(len(levels) * _AHEAD), 1)
    return [min(levels[-1] + pace * (each + 1), limit) for each in range(count)]


def _find_reached(
    levels: Sequence[float], ahead: Sequence[float], limit: int | None
) -> float | None:
    """The place where the budget is used up, if that is near enough to be drawn."""
    for place, level in enumerate(ahead):
        if limit is not None and level >= limit:
            return len(levels) + place
    return None
