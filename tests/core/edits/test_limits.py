"""Nothing is without bounds: sizes, matches, results, comparing."""

from __future__ import annotations

from guidance.core.edits import Edit, EditPlan, EditRefusal, plan_edits
from guidance.core.edits.lines import Lines
from guidance.core.edits.plan import EDIT_LIMIT, MATCH_LIMIT, TEXT_LIMIT
from guidance.core.edits.similarity import Effort, Windows
from tests.core.edits.builders import refused


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
    large = Edit(old="a", new="b" * TEXT_LIMIT)
    assert troubles(plan_edits("a", [large])) == ["too-large"]


def test_two_hundred_edits_of_a_large_file() -> None:
    lines = [f"line {n}: {'x' * 90}" for n in range(10_000)]
    edits = [Edit(old=f"line {n * 50}:", new=f"LINE {n}:") for n in range(EDIT_LIMIT)]
    plan = plan_edits("\n".join(lines), edits)
    assert isinstance(plan, EditPlan)
    assert len(plan.matches) == EDIT_LIMIT
    assert (plan.lines_added, plan.lines_removed) == (EDIT_LIMIT, EDIT_LIMIT)


def test_more_matches_than_anybody_reads() -> None:
    everywhere = Edit(old="a", new="b", replace_all=True)
    assert isinstance(plan_edits("a" * MATCH_LIMIT, [everywhere]), EditPlan)
    assert troubles(plan_edits("a" * (MATCH_LIMIT + 1), [everywhere])) == ["too-large"]


def test_a_result_that_would_fill_the_memory() -> None:
    grow = Edit(old="a", new="b" * 10_000, replace_all=True)
    assert troubles(plan_edits("a" * 1_000, [grow])) == ["too-large"]


def test_looking_for_similar_lines_ends() -> None:
    text = "aaaaaaaaaaaaaaaaaaaa\n" * 20_000
    edits = [Edit(old=f"aaaaaaaaaaaaaaaaaab{n}", new="x") for n in range(100, 150)]
    result = plan_edits(text, edits)
    assert isinstance(result, EditRefusal)
    assert len(result.problems) == 50
    assert "too much to compare" in result.problems[-1].message


def test_the_effort_is_counted_not_timed() -> None:
    lines = Lines("".join(f"line number {n}\n" for n in range(100)))
    enough = Effort(limit=10_000_000)
    assert Windows(lines).similar("line nummer 7", limit=9, effort=enough) == [(7, 8)]
    assert Windows(lines).similar("line nummer 7", limit=9, effort=Effort(99)) is None


def test_edits_that_find_nothing_say_whether_everything_was_looked_at() -> None:
    (problem,) = refused("one\ntwo\n", ("quite something else", "x"))
    assert problem.message == "edits[0]: old does not stand in the file"


def test_two_insertions_into_an_empty_file_have_no_order() -> None:
    (problem,) = refused("", ("", "a"), ("", "b"))
    assert problem.trouble == "overlap"


def test_no_edits_change_nothing() -> None:
    plan = plan_edits("text", [])
    assert isinstance(plan, EditPlan)
    assert (plan.result, plan.diff, plan.matches) == ("text", "", ())
