"""Bars: stacked over time, and lying ones that show shares of a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.charts.plot import Mark, Tick, build_plot, draw_frame, link_mark
from console.charts.scale import Scale

# So much of its place a bar fills, and so many pixels are between its parts.
_FILLED = 0.67
_BETWEEN = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """`counts` stand on top of each other, the worst last."""

    counts: Sequence[int]
    mark: Mark


def draw_stacked_bars(
    bars: Sequence[Bar],
    *,
    tones: Sequence[str],
    scale: Scale,
    about: str,
    ticks: Sequence[Tick] = (),
) -> SafeString:
    gap = 100 / max(len(bars), 1)
    drawn = [
        link_mark(bar.mark, _draw_bar(bar, tones, scale, place * gap, gap))
        for place, bar in enumerate(bars)
    ]
    return build_plot((draw_frame(scale, ticks), *drawn), scale=scale, about=about)


def find_middle(place: int, count: int) -> float:
    """Per cent across, where the word below a bar belongs."""
    return round(100 * (place + 0.5) / max(count, 1), 2)


def draw_split_bar(parts: Sequence[tuple[str, int]], *, height: int) -> SafeString:
    """(tone, count) side by side; a part that exists is never too thin to see."""
    shown = [(tone, count) for tone, count in parts if count]
    total = sum(count for _, count in shown)
    return format_html(
        '<svg class="splitbar" width="100%" height="{}" aria-hidden="true">{}</svg>',
        height,
        format_html_join("", "{}", ((each,) for each in _split(shown, total, height))),
    )


def draw_share(share: float, *, height: int = 5, tone: str = "mid") -> SafeString:
    """One value on a bed that is the whole."""
    width = round(100 * min(max(share, 0.0), 1.0), 2)
    return format_html(
        '<svg width="100%" height="{0}" aria-hidden="true">'
        '<rect class="f-bed" width="100%" height="{0}" rx="{1}"/>'
        '<rect class="f-{2}" width="{3}%" height="{0}" rx="{1}"/></svg>',
        height,
        height / 2,
        tone,
        width,
    )


def _draw_bar(
    bar: Bar, tones: Sequence[str], scale: Scale, left: float, gap: float
) -> SafeString:
    x, width = round(left + gap * (1 - _FILLED) / 2, 2), round(gap * _FILLED, 2)
    column = format_html(
        '<rect class="hit" x="{}%" width="{}%" y="0" height="{}"/>',
        round(left, 2),
        round(gap, 2),
        scale.base,
    )
    total, parts = 0, []
    for tone, count in zip(tones, bar.counts, strict=True):
        if not count:
            continue
        bottom = scale.find_y(total) - (_BETWEEN if total else 0)
        total += count
        height = max(bottom - scale.find_y(total), 1.0)
        parts.append((tone, x, width, round(bottom - height, 2), round(height, 2)))
    return format_html(
        "{}{}",
        column,
        format_html_join(
            "", '<rect class="f-{}" x="{}%" width="{}%" y="{}" height="{}"/>', parts
        ),
    )


def _split(
    shown: Sequence[tuple[str, int]], total: int, height: int
) -> Iterator[SafeString]:
    between, least = 0.6, 1.5
    room = 100 - between * (len(shown) - 1) - least * len(shown)
    x = 0.0
    for tone, count in shown:
        width = least + room * count / total
        yield format_html(
            '<rect class="f-{}" x="{}%" width="{}%" height="{}" rx="1.5"/>',
            tone,
            round(x, 2),
            round(width, 2),
            height,
        )
        x += width + between
