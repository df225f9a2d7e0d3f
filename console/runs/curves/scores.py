"""Coherence, uncertainty and rework: what counted, what the agent says of itself, the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from console.charts.lines import Limit, Line
from console.charts.scale import Scale
from console.runs.curves.sampling import StepPoint
from console.runs.curves.shown import HEIGHT, Curve, build_plot_of_steps, draw_held
from guidance.core.number_format import format_percent, format_plain
from guidance.core.policy import ContinueLimits

_TONES = {"stop": "stop", "pause": "pause"}
# So many dots are drawn, the newest.
_DOTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Score:
    """`metric` is what counted; the agent's own word for it is beside it in an entry."""

    title: str
    metric: str
    gate: str
    setting: str
    words: str
    is_floor: bool
    write: Callable[[float], str]
    write_limit: Callable[[float], str]


def _format_score(value: float) -> str:
    return f"{value:.2f}"


def _format_share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _format_limit(value: float) -> str:
    return format_plain(value, places=2)


_SCORES = (
    _Score(
        title="Coherence",
        metric="coherence",
        gate="coherence",
        setting="min_coherence",
        words="stops under",
        is_floor=True,
        write=_format_score,
        write_limit=_format_limit,
    ),
    _Score(
        title="Uncertainty",
        metric="uncertainty",
        gate="uncertainty",
        setting="max_uncertainty",
        words="pauses over",
        is_floor=False,
        write=_format_score,
        write_limit=_format_limit,
    ),
    _Score(
        title="Rework, last {window} steps",
        metric="rework_ratio",
        gate="rework",
        setting="max_rework_ratio",
        words="pauses over",
        is_floor=False,
        write=_format_share,
        write_limit=format_percent,
    ),
)


def build_score_curves(
    points: Sequence[StepPoint], limits: ContinueLimits
) -> Iterator[Curve]:
    """One for each score that at least two of these steps have."""
    for score in _SCORES:
        seen = [point.metrics.get(score.metric) for point in points]
        if sum(value is not None for value in seen) > 1:
            yield _build_curve(score, points, seen, limits)


def _build_curve(
    score: _Score,
    points: Sequence[StepPoint],
    seen: Sequence[float | None],
    limits: ContinueLimits,
) -> Curve:
    numbers = [point.number for point in points]
    limit: float = getattr(limits, score.setting)
    claimed = _list_claimed(score, points, seen)
    tones = [_TONES.get(point.found.get(score.gate, ""), "") for point in points]
    held = [place for place, tone in enumerate(tones) if tone][-_DOTS:]
    tones = [tone if place in held else "" for place, tone in enumerate(tones)]
    place = max(
        (each for each in held if seen[each] is not None),
        default=max(each for each, value in enumerate(seen) if value is not None),
    )
    value = seen[place] or 0.0
    beyond = value < limit if score.is_floor else value > limit
    title = score.title.format(window=limits.rework_window)
    words = f"{score.words} {score.write_limit(limit)}"
    said = next((each for each in reversed(claimed) if each is not None), None)
    about = (
        f"{title}, steps {numbers[0]} to {numbers[-1]}: {words}, "
        f"{score.write(value)} at step {numbers[place]}"
    )
    lines = [Line(tone="accent", values=seen)]
    if said is not None:
        about += f", the agent says {score.write(said)}, dotted"
        lines.insert(
            0,
            Line(
                tone="said",
                values=claimed,
                label=f"agent says {score.write(said)}",
                below=score.is_floor,
            ),
        )
    return Curve(
        title=title,
        figure=score.write(value),
        tone=tones[place]
        or (("stop" if score.is_floor else "pause") if beyond else ""),
        beside=f"at step {numbers[place]}",
        about=about,
        plot=build_plot_of_steps(
            [*lines, *draw_held(seen, tones, places=len(seen))],
            numbers=numbers,
            named=[numbers[each] for each in held],
            scale=_build_scale(score, seen, limit),
            limit=Limit(value=limit, label=words),
            about=about,
            write=score.write,
            columns=("What counted", "Agent says"),
            table=(seen, claimed),
        ),
    )


def _list_claimed(
    score: _Score, points: Sequence[StepPoint], seen: Sequence[float | None]
) -> list[float | None]:
    """What the agent said of itself; nothing where it never said anything else than what
    counted."""
    said = [point.metrics.get(f"{score.metric}_reported") for point in points]
    differs = any(
        each is not None and value is not None and each != value
        for each, value in zip(said, seen, strict=True)
    )
    return said if differs else [None] * len(said)


def _build_scale(score: _Score, seen: Sequence[float | None], limit: float) -> Scale:
    """Scores reach from 0 to 1; small shares fill the chart."""
    highest = max(limit, *(value for value in seen if value is not None))
    small = (0.25, 0.5) if score.metric == "rework_ratio" else ()
    top = next((each for each in small if each > highest), 1.0)
    return Scale(steps=(top, top / 2, 0.0), height=HEIGHT)
