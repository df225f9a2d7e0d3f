"""A figure beside its limit, and the table they are printed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEADINGS = ("what", "figure", "limit or peer", "ratio", "target", "met")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """`met` is None where there is no target, only something to know."""

    label: str
    figure: str
    compared_with: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        return (
            self.label,
            self.figure,
            self.compared_with,
            "" if self.ratio is None else f"{self.ratio:.2f}",
            self.target,
            "" if self.met is None else "yes" if self.met else "NO",
        )


def render_table(figures: Sequence[Figure]) -> str:
    rows = [HEADINGS, *(figure.cells for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def get_percentile(values: Sequence[float], part: float) -> float:
    """The value that this part of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def format_rate(rate: float) -> str:
    return f"{rate:,.0f} a second"


def format_seconds(span: float) -> str:
    return f"{span:.1f} s"


def format_milliseconds(span: float) -> str:
    return f"{span * 1000:.1f} ms"


def format_megabytes(size: float) -> str:
    return f"{size / 1_000_000:.1f} MB"
