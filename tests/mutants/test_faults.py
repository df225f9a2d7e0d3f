"""Which faults are planted, where, and what becomes of the functions they are planted in."""

from __future__ import annotations

import ast
import json
import textwrap
from pathlib import Path

import pytest

from common import long_work
from tests.mutants.changes import ROOT, parse_diff, take_whole
from tests.mutants.faults import list_faults, read_faults
from tests.mutants.planting import find_function, plant, restore, watch
from tests.mutants.session import choose_tests
from tests.support.rows import each_row

LONG_WORK = "common/long_work.py"


def list_changes(body: str) -> list[str]:
    source = f"def work():\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    lines = set(range(1, 99))
    faults = list_faults("p.py", source, lines)
    return [f"{fault.before} -> {fault.after}" for fault in faults]


@each_row(
    ("body", "changes"),
    [
        ("return a < b", ["a < b -> a <= b"]),
        ("return a is None", ["a is None -> a is not None"]),
        (
            "return a and b and c",
            [
                "a and b and c -> b and c",
                "a and b and c -> a and c",
                "a and b and c -> a and b",
            ],
        ),
        ("return not a", ["not a -> a"]),
        ("if a: b = c", ["if a: b = c -> if not a: b = c"]),
        ("return a + 1", ["a + 1 -> a - 1", "1 -> 2"]),
        ("return True", ["True -> False"]),
        ("a(b)", ["a(b) -> pass"]),
        ("raise a", ["raise a -> pass"]),
        ("return max(a)", ["max(a) -> min(a)"]),
        (
            "return a.filter(b=c, d=e)",
            [
                "a.filter(b=c, d=e) -> a.filter(d=e)",
                "a.filter(b=c, d=e) -> a.filter(b=c)",
            ],
        ),
        (
            "return a.order_by('-b')",
            [
                "a.order_by('-b') -> a.order_by()",
                "a.order_by('-b') -> a.order_by('b')",
            ],
        ),
        # What is said to people who read logs, and what only a reader of types sees.
        ("logger.info(a, 1)", []),
        ("assert a < b", []),
        ("a: Literal[1] = b", []),
    ],
)
def test_one_fault_at_a_time(body: str, changes: list[str]) -> None:
    assert list_changes(body) == changes


def test_what_runs_when_a_module_is_loaded_is_left_alone() -> None:
    source = "LIMIT = 1\n@cache(2)\ndef work(a=3): return 4\n"
    assert [fault.before for fault in list_faults("p.py", source, {1, 2, 3})] == ["4"]
    assert [*list_faults("p.py", source, {1, 2})] == []


def test_a_diff_names_the_lines_that_are_there_now() -> None:
    diff = """\
+++ b/ledger/plan.py
@@ -1,2 +3,2 @@ class Plan
@@ -9 +11 @@
@@ -20,3 +21,0 @@
+++ b/ledger/migrations/0001_initial.py
@@ -1 +1 @@
+++ b/tests/ledger/test_plan.py
@@ -1 +1 @@
"""
    assert parse_diff(diff) == {"ledger/plan.py": {3, 4, 11}}


def test_a_planted_fault_changes_what_is_loaded_already() -> None:
    line = long_work.Line()
    used = long_work.Line.add_seconds
    (lines,) = take_whole([LONG_WORK]).values()
    (fault,) = (
        fault
        for fault in list_faults(LONG_WORK, open_source(), lines)
        if fault.after == "self._used.get(party, 0.0) - seconds"
    )
    planted = plant(fault.path, fault.tree)
    try:
        assert [*planted] == [used]
        line.add_seconds(long_work.NOBODY, 2.0)
        assert line._used[long_work.NOBODY] == -2.0
    finally:
        restore(planted)
    line.add_seconds(long_work.NOBODY, 2.0)
    assert line._used[long_work.NOBODY] == 0.0


def test_who_watches_hears_which_functions_are_entered() -> None:
    entered: list[int] = []
    planted = watch(LONG_WORK, lambda _path, line: entered.append(line))
    try:
        long_work.Line().take()
    finally:
        restore(planted)
    long_work.Line().take()
    firsts = [find_function(LONG_WORK, line + 1) for line in entered]
    assert firsts == entered
    names = [open_source().splitlines()[line - 1].strip() for line in entered]
    assert names == [
        "def __init__(self) -> None:",
        "def take(self) -> tuple[Share, Work] | None:",
    ]


def open_source() -> str:
    return (ROOT / LONG_WORK).read_text()


def write_faults(tmp_path: Path, **fault: str) -> Path:
    written = tmp_path / "faults.json"
    written.write_text(json.dumps([fault]))
    return written


def test_a_fault_may_be_written_down(tmp_path: Path) -> None:
    source = Path(ROOT, LONG_WORK).read_text()
    start = source.index("\ndef ") + 1
    before = source[start : source.index("\n", start)]
    written = write_faults(tmp_path, path=LONG_WORK, before=before, after="def x():")
    (fault,) = read_faults(written)
    assert source.splitlines()[fault.line - 1].strip() == before
    assert fault.after == "def x():"
    assert "def x():" in ast.unparse(fault.tree)


def test_what_it_takes_the_place_of_is_there_once(tmp_path: Path) -> None:
    written = write_faults(tmp_path, path=LONG_WORK, before="self", after="other")
    with pytest.raises(SystemExit, match=r"long_work.py has \d+ times: self"):
        read_faults(written)


def test_no_function_is_around_what_stands_at_the_top() -> None:
    assert find_function(LONG_WORK, 1) == 0


def test_who_watches_one_file_hears_nothing_of_another_that_is_watched() -> None:
    """The second one is a test that is watched itself."""
    heard: list[str] = []
    first = watch(LONG_WORK, lambda path, _line: heard.append(path))
    second = watch("common/paging.py", lambda *_where: heard.append("second"))
    try:
        long_work.Line()
    finally:
        restore(second)
        restore(first)
    assert heard == [LONG_WORK]


def test_a_fault_is_tried_by_the_nearest_tests_and_by_the_quickest() -> None:
    quick = [f"tests/gateway/test_{number:02d}.py::test_it" for number in range(80)]
    near = [f"tests/console/runs/test_{number}.py::test_it" for number in range(3)]
    beside = ["tests/console/test_pages.py::test_it"]
    chosen = choose_tests("console/runs/rows.py", [*quick, *beside, *near])
    assert chosen == [*near, *beside, *quick[:56]]
    assert choose_tests("console/runs/rows.py", []) == []
