"""The scores of a run's newest steps as charts: what counted, what the agent says of itself,
and the limit that a gate holds against them.

Colours come from CSS classes and positions from attributes, as in `console.charts`.
Everything formatted into the markup is a number or our own word.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from guidance.core.number_format import format_percent, format_plain
from guidance.core.policy import ContinueLimits
from ledger.models import Entry

_LEFT, _RIGHT, _FLOOR, _HEIGHT = 32.0, 298.0, 80.0, 68.0
_TONES = {"stop": "stop", "pause": "pause"}
Metrics = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChart:
    """`tone` is that of the last value, empty within the limit."""

    title: str
    last: str
    tone: str
    drawing: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class _Score:
    """`metric` is what counted; the agent's own word for it is beside it in an entry."""

    title: str
    metric: str
    gate: str
    setting: str
    words: str
    is_floor: bool
    format: Callable[[float], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    step: int
    value: float | None
    claimed: float | None
    decision: str


def _format_score(value: float) -> str:
    return f"{value:.2f}"


def _format_share(value: float) -> str:
    return f"{100 * value:.0f} %"


_SCORES = (
    _Score(
        title="Coherence",
        metric="coherence",
        gate="coherence",
        setting="min_coherence",
        words="stops under",
        is_floor=True,
        format=_format_score,
    ),
    _Score(
        title="Uncertainty",
        metric="uncertainty",
        gate="uncertainty",
        setting="max_uncertainty",
        words="pauses over",
        is_floor=False,
        format=_format_score,
    ),
    _Score(
        title="Rework",
        metric="rework_ratio",
        gate="rework",
        setting="max_rework_ratio",
        words="pauses over",
        is_floor=False,
        format=_format_share,
    ),
)


def build_score_charts(
    steps: Sequence[Entry], limits: ContinueLimits
) -> tuple[ScoreChart, ...]:
    """One for each score that at least two of these steps have."""
    verdicts = [
        (entry.step_number or 0, json.loads(entry.payload)["verdict"])
        for entry in steps
    ]
    charts = []
    for score in _SCORES:
        points = [_read_point(score, number, each) for number, each in verdicts]
        if sum(point.value is not None for point in points) > 1:
            charts.append(_build_chart(score, points, getattr(limits, score.setting)))
    return tuple(charts)


def _read_point(score: _Score, number: int, verdict: Metrics) -> _Point:
    metrics = verdict["metrics"]
    value, said = metrics.get(score.metric), metrics.get(f"{score.metric}_reported")
    found = (each for each in verdict["findings"] if each["gate"] == score.gate)
    return _Point(
        step=number,
        value=value,
        claimed=said if said != value else None,
        decision=next((each["decision"] for each in found), ""),
    )


def _build_chart(score: _Score, points: Sequence[_Point], limit: float) -> ScoreChart:
    known = [point for point in points if point.value is not None]
    last = known[-1].value or 0.0
    beyond = last < limit if score.is_floor else last > limit
    return ScoreChart(
        title=score.title,
        last=score.format(last),
        tone=("stop" if score.is_floor else "pause") if beyond else "",
        drawing=_draw(score, points, limit),
    )


def _draw(score: _Score, points: Sequence[_Point], limit: float) -> SafeString:
    values = [each.value for each in points if each.value is not None]
    top = next((each for each in (0.25, 0.5) if each > max(*values, limit)), 1.0)
    gap = (_RIGHT - _LEFT) / max(len(points) - 1, 1)

    def find_place(index: int, value: float) -> str:
        return f"{_LEFT + index * gap:.1f},{_find_y(value, top):.1f}"

    parts = [_draw_grid(score, top)]
    claimed = [
        find_place(index, each.claimed)
        for index, each in enumerate(points)
        if each.claimed is not None
    ]
    if len(claimed) > 1:
        parts.append(f'<polyline class="claimed" points="{" ".join(claimed)}"/>')
    parts += [
        f'<polyline class="seen" points="{" ".join(line)}"/>'
        for line in _list_lines(points, find_place)
    ]
    parts.append(_draw_limit(score, limit, top))
    for index, each in enumerate(points):
        if each.value is not None and each.decision in _TONES:
            x, y = find_place(index, each.value).split(",")
            about = f"step {each.step}: {score.format(each.value)}"
            parts.append(
                f'<circle class="{_TONES[each.decision]}" cx="{x}" cy="{y}" r="2.8">'
                f"<title>{about}</title></circle>"
            )
    first, last = points[0].step, points[-1].step
    parts.append(
        f'<text x="{_LEFT:.0f}" y="93">step {first}</text>'
        f'<text x="{_RIGHT:.0f}" y="93" text-anchor="end">{last}</text>'
    )
    label = f"{score.title}, steps {first} to {last}: {_describe_limit(score, limit)}"
    label += f", last {score.format(values[-1])}"
    label += ", and what the agent says, dotted" if len(claimed) > 1 else ""
    drawn = "".join(parts)
    return mark_safe(  # noqa: S308 (see the docstring)
        f'<svg viewBox="0 0 300 96" role="img" aria-label="{label}">{drawn}</svg>'
    )


def _list_lines(
    points: Sequence[_Point], find_place: Callable[[int, float], str]
) -> list[list[str]]:
    """A line ends where a step has no score."""
    lines: list[list[str]] = [[]]
    for index, each in enumerate(points):
        if each.value is None:
            lines.append([])
        else:
            lines[-1].append(find_place(index, each.value))
    return [line for line in lines if len(line) > 1]


def _draw_grid(score: _Score, top: float) -> str:
    drawn = ""
    for level in (0.0, top / 2, top):
        y = _find_y(level, top)
        drawn += (
            f'<line class="grid" x1="{_LEFT:.0f}" x2="300" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 5:.0f}" y="{y + 3:.1f}" text-anchor="end">'
            f"{score.format(level) if level else 0}</text>"
        )
    return drawn


def _draw_limit(score: _Score, limit: float, top: float) -> str:
    """Its words stand on the side that is allowed, as far as there is room."""
    y = _find_y(limit, top)
    beside = y - 4 if score.is_floor and y > 20 else y + 11
    return (
        f'<line class="limit" x1="{_LEFT:.0f}" x2="300" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="limit" x="{_LEFT + 4:.0f}" y="{beside:.1f}">'
        f"{_describe_limit(score, limit)}</text>"
    )


def _describe_limit(score: _Score, limit: float) -> str:
    shown = (
        format_percent(limit)
        if score.format is _format_share
        else format_plain(limit, places=2)
    )
    return f"{score.words} {shown}"


def _find_y(value: float, top: float) -> float:
    return _FLOOR - min(max(value / top, 0.0), 1.0) * _HEIGHT
