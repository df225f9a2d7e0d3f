"""Nothing is without bounds: sizes, matches, results, comparing."""

from __future__ import annotations

import pytest

from guidance.core.edits import Edit, EditPlan, EditRefusal, plan_edits
from guidance.core.edits.plan import (
    EDIT_LIMIT,
    EDITS_LIMIT,
    MATCH_LIMIT,
    OVERLAP_LIMIT,
    RESULT_LIMIT,
    TEXT_LIMIT,
)
from guidance.core.edits.similarity import KEPT, Windows
from guidance.core.effort import Effort
from tests.guidance.core.edits.builders import get_problems, plan_changes


def troubles(result: EditPlan | EditRefusal) -> list[str]:
    assert isinstance(result, EditRefusal)
    return [problem.trouble for problem in result.problems]


def test_the_largest_text_is_taken_and_a_larger_one_is_not() -> None:
    text = "a" * (TEXT_LIMIT - 1) + "b"
    assert isinstance(plan_edits(text, [Edit(old="b", new="c")]), EditPlan)
    assert troubles(plan_edits(text + "x", [Edit(old="b", new="c")])) == ["too-large"]


def test_too_many_edits_and_too_much_in_them() -> None:
    edit = Edit(old="a", new="b")
    assert troubles(plan_edits("a", [edit] * (EDIT_LIMIT + 1))) == ["too-large"]
    large = Edit(old="a", new="b" * EDITS_LIMIT)
    assert troubles(plan_edits("a", [large])) == ["too-large"]


@pytest.mark.parametrize(("lines", "many"), [(400, EDIT_LIMIT), (6_000, 30)])
def test_many_edits_of_a_small_file_and_fewer_of_a_large_one(
    lines: int, many: int
) -> None:
    text = "\n".join(f"line {n}: {'x' * 28}" for n in range(lines))
    edits = [Edit(old=f"line {n}:", new=f"LINE {n}:") for n in range(many)]
    plan = plan_edits(text, edits)
    assert isinstance(plan, EditPlan)
    assert len(plan.matches) == many
    assert (plan.lines_added, plan.lines_removed) == (many, many)


def test_what_costs_too_much_says_what_to_do() -> None:
    line = f"line 1: {'x' * 28}\n"
    (problem,) = get_problems(
        line * 6_000, *[(f"line {n}", "x") for n in range(EDIT_LIMIT)]
    )
    assert problem.trouble == "too-large"
    assert "send fewer at once" in problem.message


def test_an_edit_that_is_nearly_right_takes_nothing_from_the_others() -> None:
    lines = [f"statement {n:05} = {n * 7_919 % 10_007}\n" for n in range(6_000)]
    wrong = [("".join(lines[n : n + 150])[::-1], "x") for n in (10, 1_000, 2_000)]
    right = [(line, f"# {line}") for line in lines[3_000:3_010]]
    problems = get_problems("".join(lines), *wrong, *right)
    assert {problem.edit for problem in problems} == {0, 1, 2}
    assert all("too much to compare" in problem.message for problem in problems)


def test_more_matches_than_anybody_reads() -> None:
    everywhere = Edit(old="a", new="b", replace_all=True)
    assert isinstance(plan_edits("a" * MATCH_LIMIT, [everywhere]), EditPlan)
    assert troubles(plan_edits("a" * (MATCH_LIMIT + 1), [everywhere])) == ["too-large"]


def test_overlaps_are_told_as_many_as_anybody_reads() -> None:
    everywhere = Edit(old="a", new="b", replace_all=True)
    assert len(troubles(plan_edits("a\n" * 200, [everywhere] * 3))) == OVERLAP_LIMIT


def test_a_result_that_would_fill_the_memory() -> None:
    grow = Edit(old="a", new="b" * 10_000, replace_all=True)
    assert troubles(plan_edits("a" * 1_000, [grow])) == ["too-large"]


def test_the_largest_result_is_made_and_a_larger_one_is_not() -> None:
    grow = Edit(old="a", new="b" * (RESULT_LIMIT // 4), replace_all=True)
    plan = plan_edits("aaaa", [grow])
    assert isinstance(plan, EditPlan)
    assert len(plan.result) == RESULT_LIMIT
    (problem,) = get_problems("aaaac", ("a", grow.new, True))
    assert problem.trouble == "too-large"
    assert "the result would have more than 524,288 characters" in problem.message


def test_looking_for_similar_lines_ends() -> None:
    text = "aaaaaaaaaaaaaaaaaaaa\n" * 1_500
    edits = [Edit(old=f"aaaaaaaaaaaaaaaaaab{n}", new="x") for n in range(100, 150)]
    result = plan_edits(text, edits)
    assert isinstance(result, EditRefusal)
    assert len(result.problems) == 50
    assert "too much to compare" in result.problems[-1].message


def test_the_effort_is_counted_not_timed() -> None:
    windows = Windows([f"line number {n}" for n in range(100)])
    enough, little = Effort(KEPT + 10_000), Effort(KEPT + 10)
    assert windows.find_similar("line nummer 7", limit=9, effort=enough) == [(7, 8)]
    assert windows.find_similar("line nummer 7", limit=9, effort=little) is None


def test_edits_that_find_nothing_say_whether_everything_was_looked_at() -> None:
    (problem,) = get_problems("one\ntwo\n", ("quite something else", "x"))
    assert problem.message == "edits[0]: old does not stand in the file"


def test_two_insertions_into_an_empty_file_have_no_order() -> None:
    (problem,) = get_problems("", ("", "a"), ("", "b"))
    assert problem.trouble == "overlap"


def test_no_edits_change_nothing() -> None:
    plan = plan_edits("text", [])
    assert isinstance(plan, EditPlan)
    assert (plan.result, plan.diff, plan.matches) == ("text", "", ())


def test_what_stands_behind_the_text_is_not_found() -> None:
    """A short text is searched with room behind it."""
    assert plan_changes("a\0c\n", ("\0", "x")).result == "axc\n"
    (one, other) = get_problems("a\n", ("\0", "x"), ("\0\0", "y"))
    assert (one.trouble, other.trouble) == ("no-match", "no-match")


def test_lines_that_cannot_be_compared_are_shown_as_a_whole() -> None:
    """Many lines of both sides, in another order: each would have to be looked up."""
    lines = [f"{n}\n" for n in range(4_000)]
    text, turned = "".join(lines), "".join(reversed(lines))
    plan = plan_changes(text, (text, turned))
    assert (plan.lines_added, plan.lines_removed) == (4_000, 4_000)
    few = "".join(f"{n % 100}\n" for n in range(4_000))
    plan = plan_changes(few, (few, few.removeprefix("0\n") + "0\n"))
    assert (plan.lines_added, plan.lines_removed) == (1, 1)
