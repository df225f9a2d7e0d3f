"""The last figures that were kept, and whether what is measured now is worse."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import Figure

PATH = Path(__file__).with_name("last_figures.json")
# A ratio moves by some percent from run to run; past this it is worse.
TOLERANCE = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class LastFigures:
    """The rows of one measurement by their labels, and where they were measured."""

    date: str
    cores: int
    python: str
    rows: Mapping[str, Figure]

    def describe(self) -> str:
        return f"{self.date}, {self.cores} cores, Python {self.python}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A row of now beside the last one of its label. `now` is None where it is gone."""

    label: str
    now: Figure | None
    last: Figure | None

    @property
    def change(self) -> float | None:
        """How much larger the ratio is: -0.2 is a fifth less."""
        now = self.now.ratio if self.now else None
        last = self.last.ratio if self.last else None
        return now / last - 1 if now is not None and last else None

    @property
    def worse(self) -> bool:
        """What has no ratio, or is new, is never judged."""
        if self.now is None or self.change is None:
            return False
        loss = self.change if self.now.better == "lower" else -self.change
        return loss > TOLERANCE

    @property
    def missing(self) -> bool:
        """It had a ratio, so it was judged; now it cannot be."""
        had = self.last is not None and self.last.ratio is not None
        return had and (self.now is None or self.now.ratio is None)

    @property
    def cells(self) -> tuple[str, str]:
        """For the table: the last ratio, and the change since."""
        if self.last is None or self.last.ratio is None:
            return "", ""
        change = "" if self.change is None else f"{self.change:+.0%}".replace("%", " %")
        return f"{self.last.ratio:.2f}", f"{change} WORSE" if self.worse else change


def compare(figures: Iterable[Figure], last: LastFigures | None) -> list[Comparison]:
    """In the order of now; what is gone comes last."""
    rows = last.rows if last else {}
    found = {each.label: each for each in figures}
    return [
        *(
            Comparison(label=label, now=now, last=rows.get(label))
            for label, now in found.items()
        ),
        *(
            Comparison(label=label, now=None, last=gone)
            for label, gone in rows.items()
            if label not in found
        ),
    ]


def take_better(first: Sequence[Figure], second: Sequence[Figure]) -> list[Figure]:
    """Row by row the better ratio of two runs: other work on the machine is not ours."""
    again = {each.label: each for each in second}
    return [_choose(each, again.pop(each.label, each)) for each in first] + [
        *again.values()
    ]


def _choose(one: Figure, other: Figure) -> Figure:
    if one.ratio is None or other.ratio is None:
        return one
    lower = one.better == "lower"
    return min(one, other, key=lambda each: (each.ratio or 0) * (1 if lower else -1))


def describe_faults(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """A sentence for each row that is worse, and for each that is gone."""
    for each in comparisons:
        if each.missing:
            yield f"{each.label}: it is not measured any more"
        elif each.worse and each.now and each.last:
            yield f"{each.label}: {each.now.ratio:.2f}, last {each.last.ratio:.2f}"


def read_last_figures(path: Path = PATH) -> dict[str, LastFigures]:
    """By the names of the measurements; empty where nothing was kept yet."""
    if not path.exists():
        return {}
    return {
        name: LastFigures(
            date=kept["date"],
            cores=kept["cores"],
            python=kept["python"],
            rows={row["label"]: Figure(**row) for row in kept["rows"]},
        )
        for name, kept in json.loads(path.read_text()).items()
    }


def keep_figures(measured: Mapping[str, Sequence[Figure]], path: Path = PATH) -> None:
    """Replace what was kept of these measurements; the others stay as they are."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    for name, figures in measured.items():
        kept[name] = {
            "date": datetime.now(UTC).date().isoformat(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "rows": [_build_row(figure) for figure in figures],
        }
    text = json.dumps(kept, indent=2, ensure_ascii=False, sort_keys=True)
    path.write_text(f"{text}\n")


def _build_row(figure: Figure) -> dict[str, str | float]:
    row: dict[str, str | float] = {"label": figure.label, "figure": figure.figure}
    if figure.compared_with:
        row["compared_with"] = figure.compared_with
    if figure.ratio is not None and figure.better is not None:
        row |= {"ratio": round(figure.ratio, 4), "better": figure.better}
    return row
