"""The unified diff: what a person reads is what will be in the file."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.edits import Edit, EditPlan, count_diff_lines, plan_edits
from guidance.core.edits.changes import split_lines
from tests.guidance.core.edits.builders import plan_changes, whole_diff
from tests.support.examples import examples
from tests.support.rows import each_row

steadily = examples(500)

_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def apply_diff(original: str, diff: str) -> str:
    """Apply a unified diff as any other program would."""
    old = split_lines(original)
    result: list[str] = []
    position = 0
    rows = diff.split("\n")[:-1]
    for at, row in enumerate(rows):
        head = _HEAD.fullmatch(row)
        sign, line = row[:1], row[1:] + "\n"
        if at + 1 < len(rows) and rows[at + 1].startswith("\\"):
            line = line.removesuffix("\n")
        if head is not None:
            start = int(head[1]) - (head[2] != "0")
            result += old[position:start]
            position = start
        elif at < 2 or sign == "\\":
            continue
        elif sign == " ":
            assert old[position] == line
            result.append(line)
            position += 1
        elif sign == "-":
            assert old[position] == line
            position += 1
        else:
            assert sign == "+"
            result.append(line)
    return "".join(result + old[position:])


def test_a_diff_as_everybody_knows_it() -> None:
    text = "".join(f"{n}\n" for n in range(1, 21))
    plan = plan_changes(text, ("2\n3\n4\n", "two\n3\nfour\n"), ("20\n", "20"))
    assert plan.diff == (
        "--- a/file\n+++ b/file\n"
        "@@ -1,7 +1,7 @@\n 1\n-2\n+two\n 3\n-4\n+four\n 5\n 6\n 7\n"
        "@@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n"
    )
    assert (plan.lines_added, plan.lines_removed) == (3, 3)


def test_a_line_that_was_not_changed_is_not_shown_as_changed() -> None:
    text = "".join(f"{n}\n" for n in range(100))
    plan = plan_changes(text, (text, text.replace("50\n", "fifty\n")))
    assert (plan.lines_added, plan.lines_removed) == (1, 1)


def test_the_end_of_a_file_without_a_last_end() -> None:
    plan = plan_changes("a ", (" ", ""))
    assert plan.diff.endswith(
        "@@ -1 +1 @@\n-a \n\\ No newline at end of file\n"
        "+a\n\\ No newline at end of file\n"
    )
    assert apply_diff("a ", plan.diff) == "a"


def test_a_name_cannot_forge_a_line_of_the_diff() -> None:
    forged = "a.py\n+++ b/other.py\n@@ -1 +1 @@\n+\u202eevil"
    plan = plan_edits("x\n", [Edit(old="x", new="y")], file_path=forged)
    assert isinstance(plan, EditPlan)
    assert plan.diff.split("\n")[1].startswith("+++ b/a.py\\n+++ b/other.py\\n@@")
    assert "\u202e" not in plan.diff


def test_a_change_of_line_ends_is_seen() -> None:
    plan = plan_changes("a\nb\n", ("a\n", "a\r\n"))
    assert "-a\n+a\r\n" in plan.diff


@each_row("original", ["", "a", "a\n", "a\nb", "a\nb\n"])
@each_row("result", ["", "a", "a\n", "b\na", "a\nb\nc\n"])
def test_small_texts_with_and_without_a_last_end(original: str, result: str) -> None:
    diff = whole_diff(original, result)
    assert apply_diff(original, diff) == result if diff else original == result


texts = st.text("ab\n", max_size=60)


@steadily
@given(original=texts, result=texts)
def test_the_fewest_changes_lead_from_one_text_to_the_other(
    original: str, result: str
) -> None:
    old, new = split_lines(original), split_lines(result)
    diff = whole_diff(original, result)
    assert (apply_diff(original, diff) if diff else original) == result
    put_in = sum(row.startswith("+") for row in diff.split("\n")[2:])
    taken_out = sum(row.startswith("-") for row in diff.split("\n")[2:])
    assert put_in + taken_out == count_diff_lines(result, original=original)
    assert put_in - taken_out == len(new) - len(old)


@steadily
@given(
    original=st.text("ab \n\r", max_size=60),
    pieces=st.lists(
        st.tuples(st.integers(0, 59), st.integers(1, 8), st.text("xy\n\r", max_size=6)),
        max_size=5,
    ),
)
def test_the_diff_of_a_plan_leads_to_its_result(
    original: str, pieces: list[tuple[int, int, str]]
) -> None:
    edits = [Edit(old=original[at : at + size], new=new) for at, size, new in pieces]
    plan = plan_edits(original, edits)
    if isinstance(plan, EditPlan) and plan.diff:
        assert apply_diff(original, plan.diff) == plan.result
        assert plan.lines_added - plan.lines_removed == len(
            split_lines(plan.result)
        ) - len(split_lines(original))
    elif isinstance(plan, EditPlan):
        assert plan.result == original
