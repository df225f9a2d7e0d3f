"""A figure beside its limit, and the table they are printed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

HEADINGS = ("what", "figure", "limit or peer", "ratio", "target", "met")
LAST_HEADINGS = ("last", "change")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """`met` is None where there is no target, only something to know. A ratio says which
    way is `better`, so that it can be judged beside the last one."""

    label: str
    figure: str
    compared_with: str = ""
    ratio: float | None = None
    better: Literal["higher", "lower"] | None = None
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


def render_table(
    figures: Sequence[Figure], last: Mapping[str, tuple[str, str]] | None = None
) -> str:
    """`last` has by the labels of rows their last ratio and the change since."""
    rows = [HEADINGS, *(figure.cells for figure in figures)]
    if last is not None:
        beside = [
            LAST_HEADINGS,
            *(last.get(figure.label, ("", "")) for figure in figures),
        ]
        rows = [
            (*row[:4], *more, *row[4:]) for row, more in zip(rows, beside, strict=True)
        ]
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
