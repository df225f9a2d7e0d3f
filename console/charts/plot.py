"""The frame of a plot: grid, base line, words below it, and every mark's link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.charts.scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a place of the chart says, and the list that it opens."""

    title: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A word below the base line, `x` per cent across."""

    x: float
    text: str

    @property
    def anchor(self) -> str:
        """At the edges it points inward."""
        if self.x <= 5:
            return "start"
        return "end" if self.x >= 95 else "middle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A chart as a page shows it: the words beside it, the drawing, and the same figures
    as a table, whose first column names the rows."""

    steps: tuple[str, ...]
    drawing: SafeString
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def build_plot(drawn: Iterable[SafeString], *, scale: Scale, about: str) -> SafeString:
    """A group, not an image: its marks are links."""
    return format_html(
        '<svg class="plot" width="100%" height="{}" role="group" aria-label="{}">{}</svg>',
        scale.height,
        about,
        format_html_join("", "{}", ((each,) for each in drawn)),
    )


def draw_frame(scale: Scale, ticks: Iterable[Tick]) -> SafeString:
    lines = [("grid", y) for y in scale.grid] + [("base", scale.base)]
    return format_html(
        "{}{}",
        format_html_join(
            "",
            '<line class="{0}" x1="0" x2="100%" y1="{1}" y2="{1}"/>',
            lines,
        ),
        format_html_join(
            "",
            '<text x="{}%" y="{}" text-anchor="{}" aria-hidden="true">{}</text>',
            ((each.x, scale.height - 4, each.anchor, each.text) for each in ticks),
        ),
    )


def link_mark(mark: Mark, drawn: SafeString) -> SafeString:
    if not mark.href:
        return format_html("<g><title>{}</title>{}</g>", mark.title, drawn)
    return format_html(
        '<a href="{}" aria-label="{}"><title>{}</title>{}</a>',
        mark.href,
        mark.title,
        mark.title,
        drawn,
    )
