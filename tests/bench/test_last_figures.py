"""What is measured stands beside what was kept last, and is worse past a margin."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Literal

import pytest

from bench import __main__ as bench
from bench.figures import Figure, render_table
from bench.last_figures import (
    LastFigures,
    compare,
    describe_faults,
    keep_figures,
    read_last_figures,
    take_better,
)
from tests.support.rows import each_row

MEASUREMENTS = Path(bench.__file__).parent / "measurements"
Way = Literal["higher", "lower"]


def build_figure(
    ratio: float | None, better: Way | None = "higher", label: str = "steps"
) -> Figure:
    return Figure(label=label, figure="x", ratio=ratio, better=better)


def build_last(*rows: Figure) -> LastFigures:
    return LastFigures(
        date="2026-01-02",
        cores=2,
        python="3.11.9",
        rows={row.label: row for row in rows},
    )


@each_row(
    "better, last, now, worse",
    [
        ("higher", 0.40, 0.33, True),
        ("higher", 0.40, 0.35, False),
        ("higher", 0.40, 0.80, False),
        ("lower", 0.40, 0.47, True),
        ("lower", 0.40, 0.45, False),
        ("lower", 0.40, 0.10, False),
        ("lower", 0.0, 0.10, False),
    ],
)
def test_a_ratio_is_worse_past_the_margin_in_its_own_direction(
    better: Way, last: float, now: float, worse: bool
) -> None:
    (row,) = compare(
        [build_figure(now, better)], build_last(build_figure(last, better))
    )
    assert row.worse is worse
    assert bool(list(describe_faults([row]))) is worse
    assert ("WORSE" in row.cells[1]) is worse


def test_new_rows_and_rows_without_a_ratio_are_shown_and_never_judged() -> None:
    last = build_last(build_figure(None, None, "p99"))
    rows = compare(
        [build_figure(None, None, "p99"), build_figure(0.1, label="new")], last
    )
    assert [row.cells for row in rows] == [("", ""), ("", "")]
    assert not list(describe_faults(rows))
    assert not list(describe_faults(compare([build_figure(0.1)], None)))


def test_a_row_that_had_a_ratio_and_is_gone_is_a_fault() -> None:
    last = build_last(build_figure(0.4), build_figure(None, None, "p99"))
    assert list(describe_faults(compare([], last))) == [
        "steps: it is not measured any more"
    ]
    without = compare([build_figure(None, None), build_figure(None, None, "p99")], last)
    assert len(list(describe_faults(without))) == 1


def test_the_better_of_two_runs_counts_in_its_own_direction() -> None:
    first = [build_figure(0.3), build_figure(0.3, "lower", "p50")]
    second = [build_figure(0.4), build_figure(0.4, "lower", "p50")]
    assert [each.ratio for each in take_better(first, second)] == [0.4, 0.3]
    assert [each.ratio for each in take_better(second, first)] == [0.4, 0.3]


def test_what_is_kept_is_read_again_and_leaves_other_measurements(
    tmp_path: Path,
) -> None:
    path = tmp_path / "figures.json"
    assert read_last_figures(path) == {}
    keep_figures({"steps": [build_figure(0.4), build_figure(None, None, "p99")]}, path)
    keep_figures({"calls": [build_figure(0.2, label="calls")]}, path)
    keep_figures({"calls": [build_figure(0.3, label="calls")]}, path)
    kept = read_last_figures(path)
    assert kept["steps"].rows["steps"] == build_figure(0.4)
    assert kept["steps"].rows["p99"].ratio is None
    assert kept["calls"].rows["calls"].ratio == 0.3
    assert kept["steps"].cores
    assert set(json.loads(path.read_text())) == {"steps", "calls"}


def test_the_table_shows_the_last_ratio_and_the_change() -> None:
    figures = [build_figure(0.3), build_figure(0.5, label="new")]
    rows = compare(figures, build_last(build_figure(0.4)))
    lines = render_table(figures, {row.label: row.cells for row in rows}).splitlines()
    assert lines[0].split()[-4:] == ["last", "change", "target", "met"]
    assert lines[2].split() == ["steps", "x", "0.30", "0.40", "-25", "%", "WORSE"]
    assert lines[3].split() == ["new", "x", "0.50"]


def test_a_check_measures_again_and_fails_by_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ratios = {"steps": iter([0.3, 0.31]), "calls": iter([0.5, 0.6])}
    keep_figures(
        {name: [build_figure(0.6, label=name)] for name in ratios},
        tmp_path / "figures.json",
    )

    def measure(name: str, _measurement: bench.Measurement) -> list[Figure]:
        return [build_figure(next(ratios[name]), label=name)]

    monkeypatch.setattr(bench, "_measure", measure)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(
        bench, "read_last_figures", lambda: read_last_figures(tmp_path / "figures.json")
    )
    assert bench.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert "  steps: 0.31, last 0.60" in told
    assert "  calls: 0." not in told


def test_every_measured_ratio_says_which_way_is_better() -> None:
    for path in sorted(MEASUREMENTS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Figure":
                given = {keyword.arg for keyword in node.keywords}
                assert ("ratio" in given) == ("better" in given), (
                    f"{path.name}:{node.lineno}"
                )
