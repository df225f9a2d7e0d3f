"""A line of a few pixels beside a figure: how it came to be."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html
from django.utils.safestring import SafeString

_HEIGHT = 20


def draw_trend(
    values: Sequence[float | None], *, width: int = 52, tone: str = ""
) -> SafeString:
    """Without words: the figure beside it says what it is. `tone` marks its end."""
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if len(known) < 2:
        return SafeString("")
    low, high = (pick(value for _, value in known) for pick in (min, max))
    span = (high - low) or 1
    gap = (width - 2) / (len(values) - 1)
    points = [
        (1 + place * gap, _HEIGHT - 2 - (value - low) / span * (_HEIGHT - 4))
        for place, value in known
    ]
    x, y = points[-1]
    end = (
        format_html(
            '<circle class="{}" cx="{}" cy="{}" r="1.8"/>',
            tone,
            _format_place(x),
            _format_place(y),
        )
        if tone
        else ""
    )
    return format_html(
        '<svg class="trend" width="{0}" height="{1}" viewBox="0 0 {0} {1}" '
        'aria-hidden="true"><polyline class="{2}" points="{3}"/>{4}</svg>',
        width,
        _HEIGHT,
        tone,
        " ".join(f"{_format_place(x)},{_format_place(y)}" for x, y in points),
        end,
    )


def _format_place(value: float) -> str:
    return f"{value:.1f}"
