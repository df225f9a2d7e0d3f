"""What a run's steps used, and other small charts in a frame of their own.

Everything formatted into the markup here is a number or our own word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from console.format import format_compact

FIT_WINDOW = 10
FIT_MIN_POINTS = 3
BARS = 36
BARS_LEAST = 12
_FLOOR = 80.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFigure:
    """One step as far as a chart needs it."""

    number: int
    tokens: int


def draw_sparkline(tokens: Sequence[int], *, hot: str = "") -> SafeString:
    """Tokens per step, small; with `hot` the last ten steps carry that tone."""
    if len(tokens) < 2:
        return SafeString("")
    low, high = min(tokens), max(tokens)
    span = (high - low) or 1
    gap = 54 / (len(tokens) - 1)
    points = [
        f"{1 + index * gap:.1f},{14 - (value - low) / span * 12:.1f}"
        for index, value in enumerate(tokens)
    ]
    lines = f'<polyline points="{" ".join(points)}"/>'
    if hot:
        lines += (
            f'<polyline class="hot {hot}" points="{" ".join(points[-FIT_WINDOW:])}"/>'
        )
        x, y = points[-1].split(",")
        lines += f'<circle class="{hot}" cx="{x}" cy="{y}" r="1.8"/>'
    label = f"tokens per step, last {len(tokens)} steps"
    return _build_svg(
        f'class="spark" viewBox="0 0 60 16" role="img" aria-label="{label}"', lines
    )


def draw_gauge(*, share: float, tick: float | None) -> SafeString:
    """A value on a bed from 0 to 1, with its limit as a tick."""
    value = 160 * min(max(share, 0.0), 1.0)
    parts = '<rect class="bed" y="3" width="160" height="4" rx="2"/>'
    if value:
        parts += f'<rect class="val" y="3" width="{value:.1f}" height="4" rx="2"/>'
    if tick is not None:
        x = 160 * min(max(tick, 0.0), 1.0) - 0.75
        parts += (
            f'<rect class="tick" x="{x:.1f}" y=".5" width="1.5" height="9" rx=".7"/>'
        )
    return _build_svg(
        'class="gauge" viewBox="0 0 160 10" preserveAspectRatio="none" aria-hidden="true"',
        parts,
    )


def draw_fleet_bar(parts: Sequence[tuple[str, int]]) -> SafeString:
    """(tone, count) side by side; a part that exists is never too thin to see."""
    shown = [(tone, count) for tone, count in parts if count]
    total = sum(count for _, count in shown)
    if not total:
        return SafeString('<rect class="bed" width="188" height="6" rx="2"/>')
    room = 188 - 2 * (len(shown) - 1) - 4 * len(shown)
    x, drawn = 0.0, ""
    for tone, count in shown:
        width = 4 + room * count / total
        drawn += f'<rect class="f-{tone}" x="{x:.1f}" width="{width:.1f}" height="6" rx="2"/>'
        x += width + 2
    return mark_safe(drawn)  # noqa: S308 (numbers and our own tones)


def draw_outcome_bars(days: Sequence[tuple[int, int]], *, label: str) -> SafeString:
    """Small bars of (good, bad) side by side, bad on top; an empty day is a line."""
    top = max((good + bad for good, bad in days), default=0) or 1
    gap = 120 / max(len(days), 1)
    width = max(gap - 1.2, 1.0)
    parts = []
    for index, (good, bad) in enumerate(days):
        x = index * gap
        high, low = good / top * 26, bad / top * 26
        if not good + bad:
            parts.append(_draw_bar("bed", x, 27, width, 1))
        if good:
            parts.append(_draw_bar("f-go", x, 28 - high, width, high))
        if bad:
            parts.append(_draw_bar("f-stop", x, 28 - high - low, width, low))
    return _build_svg(
        f'class="outcomes" viewBox="0 0 120 28" role="img" aria-label="{label}"',
        "".join(parts),
    )


def draw_stacked_bar(parts: Sequence[tuple[str, int]], *, top: int) -> SafeString:
    """(tone, count) on top of each other, from the bottom, against the highest bar."""
    y, drawn = 40.0, ""
    for tone, count in parts:
        if count:
            height = max(count / top * 38, 1.0)
            y -= height
            drawn += _draw_bar(f"f-{tone}", 0, max(y, 0.0), 16, height)
    if not drawn:
        drawn = _draw_bar("bed", 0, 39, 16, 1)
    return _build_svg(
        'class="stack" viewBox="0 0 16 40" preserveAspectRatio="none" aria-hidden="true"',
        drawn,
    )


def draw_tokens_chart(steps: Sequence[StepFigure]) -> SafeString:
    """Bars for the last steps, and the line through the newest ten of them."""
    shown = steps[-BARS:]
    top = _round_up(max((step.tokens for step in shown), default=0))
    left = 28.0
    gap = (300 - left) / max(len(shown), BARS_LEAST)
    parts = [_draw_grid(left=left, top=top)]
    bars = []
    for index, step in enumerate(shown):
        height = step.tokens / top * 68
        hot = ' class="hot"' if index >= len(shown) - FIT_WINDOW else ""
        bars.append(
            f'<rect{hot} x="{left + index * gap + 0.8:.1f}" y="{_FLOOR - height:.1f}" '
            f'width="{gap - 1.6:.1f}" height="{height:.1f}" rx="1"/>'
        )
    parts.append(f'<g class="bars">{"".join(bars)}</g>')
    newest = [step.tokens for step in shown[-FIT_WINDOW:]]
    if len(newest) >= FIT_MIN_POINTS:
        start, end = fit_line(newest)
        first = left + (len(shown) - len(newest)) * gap
        last = left + len(shown) * gap
        parts.append(
            f'<line class="fit" x1="{first:.1f}" y1="{_compute_y(start, top):.1f}" '
            f'x2="{last:.1f}" y2="{_compute_y(end, top):.1f}"/>'
        )
    if shown:
        parts.append(f'<text x="{left:.0f}" y="93">step {shown[0].number}</text>')
        if len(shown) > 1:
            x = left + len(shown) * gap
            anchor = ' text-anchor="end"' if len(shown) > 6 else ""
            parts.append(f'<text x="{x:.1f}" y="93"{anchor}>{shown[-1].number}</text>')
    return _draw_chart("Tokens per step" + _describe_range(shown), "".join(parts))


def draw_budget_chart(
    steps: Sequence[StepFigure], *, used: int, limit: int
) -> SafeString:
    """What was left after each known step, and where the newest pace leads."""
    left = 34.0
    remaining = limit - used
    levels = _list_levels(steps, remaining=remaining)
    pace = _compute_pace(steps)
    to_empty = remaining / pace if pace and remaining > 0 else 0.0
    ahead = min(to_empty, max(len(levels) * 0.6, 6.0))
    gap = (296 - left) / max(len(levels) - 1 + ahead, 1)
    # Steps can use more than was left: the scale reaches up to what was there.
    top = max([limit, *levels, 1])
    points = [
        (left + index * gap, _compute_y(level, top))
        for index, level in enumerate(levels)
    ]
    x, y = points[-1]
    line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    parts = [
        _draw_grid(left=left, top=top),
        f'<polygon class="area" points="{left:.1f},80 {line} {x:.1f},80"/>',
        f'<polyline class="burn" points="{line}"/>',
    ]
    now = steps[-1].number if steps else 0
    parts.append(f'<text x="{left:.0f}" y="93">{_describe_start(steps)}</text>')
    if 90 < x < 225:  # room between the two other labels
        label = f"now, {now}"
        parts.append(f'<text x="{x:.1f}" y="93" text-anchor="middle">{label}</text>')
    if ahead > 0:
        end, level = x + ahead * gap, _compute_y(remaining - pace * ahead, top)
        parts.append(f'<line class="now" x1="{x:.1f}" x2="{x:.1f}" y1="8" y2="80"/>')
        parts.append(
            f'<line class="proj" x1="{x:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{level:.1f}"/>'
        )
        if ahead == to_empty:
            parts.append(f'<circle class="zero" cx="{end:.1f}" cy="80" r="2.8"/>')
            words = f"empty at {now + round(to_empty)}"
            parts.append(f'<text x="300" y="93" text-anchor="end">{words}</text>')
    parts.append(f'<circle class="pt" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
    left_over, whole = format_compact(max(0, remaining)), format_compact(limit)
    label = f"Token budget left: {left_over} of {whole}"
    return _draw_chart(label, "".join(parts))


def fit_line(figures: Sequence[int]) -> tuple[float, float]:
    """The least-squares line through the figures, at its first and last one."""
    count = len(figures)
    mean = sum(figures) / count
    middle = (count - 1) / 2
    spread = sum((index - middle) ** 2 for index in range(count))
    slope = (
        sum((index - middle) * value for index, value in enumerate(figures)) / spread
        if spread
        else 0.0
    )
    return mean - slope * middle, mean + slope * middle


def _list_levels(steps: Sequence[StepFigure], *, remaining: int) -> list[int]:
    """What was left before the first known step and after each of them."""
    levels = [remaining]
    for step in reversed(steps):
        levels.append(levels[-1] + step.tokens)
    return levels[::-1]


def _compute_pace(steps: Sequence[StepFigure]) -> float:
    newest = steps[-FIT_WINDOW:]
    return sum(step.tokens for step in newest) / len(newest) if newest else 0.0


def _describe_start(steps: Sequence[StepFigure]) -> str:
    return "start" if not steps or steps[0].number == 1 else f"step {steps[0].number}"


def _describe_range(steps: Sequence[StepFigure]) -> str:
    if not steps:
        return ", no steps yet"
    return f", steps {steps[0].number} to {steps[-1].number}"


def _round_up(highest: int) -> int:
    """The scale's top: the next 1, 2, 4, 6 or 8 times a power of ten."""
    size = 1
    while size * 10 <= highest:
        size *= 10
    return next(step * size for step in (1, 2, 4, 6, 8, 10) if step * size >= highest)


def _compute_y(value: float, top: int) -> float:
    return _FLOOR - min(max(value / top, 0.0), 1.06) * 68


def _draw_grid(*, left: float, top: int) -> str:
    lines = ""
    for level in (0, top / 2, top):
        y = _compute_y(level, top)
        lines += (
            f'<line class="grid" x1="{left:.0f}" x2="300" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{left - 5:.0f}" y="{y + 3:.1f}" text-anchor="end">'
            f"{format_compact(round(level))}</text>"
        )
    return lines


def _draw_chart(label: str, drawn: str) -> SafeString:
    return _build_svg(f'viewBox="0 0 300 96" role="img" aria-label="{label}"', drawn)


def _draw_bar(tone: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{tone}" x="{x:.1f}" y="{y:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}" rx=".6"/>'
    )


def _build_svg(attributes: str, drawn: str) -> SafeString:
    return mark_safe(f"<svg {attributes}>{drawn}</svg>")  # noqa: S308 (see the docstring)
