"""Rows PT-01 to PT-13 of the seed's scenarios, and EG-15 to EG-17."""

from __future__ import annotations

import hashlib

from guidance.core.edits import count_diff_lines, describe_oversized
from tests.guidance.core.edits.builders import get_problems, plan_changes


def test_pt_01_one_match_is_replaced() -> None:
    assert plan_changes("hello world", ("world", "there")).result == "hello there"


def test_pt_02_three_matches_ask_for_context_or_replace_all() -> None:
    (problem,) = get_problems("a b\na c\na d\n", ("a", "x"))
    assert problem.trouble == "ambiguous"
    assert "3 places (1:1, 2:1, 3:1)" in problem.message
    assert "replace_all" in problem.message
    assert "more of what is around it" in problem.message


def test_pt_03_replace_all() -> None:
    assert plan_changes("a b a c a", ("a", "x", True)).result == "x b x c x"


def test_pt_04_no_match() -> None:
    (problem,) = get_problems("hello", ("nothing", "x"))
    assert problem.trouble == "no-match"


def test_pt_05_an_empty_new_text_deletes() -> None:
    assert plan_changes("one two three", (" two", "")).result == "one three"


def test_pt_06_a_crlf_file_and_an_lf_search() -> None:
    plan = plan_changes("one\r\ntwo\r\nthree\r\n", ("one\ntwo", "1\n2"))
    assert plan.result == "1\r\n2\r\nthree\r\n"
    assert plan.matches[0].layer == "exact"


def test_pt_08_unicode() -> None:
    plan = plan_changes(
        "naïve 👩‍👩‍👧 text\nzwei", ("👩‍👩‍👧 text", "Familie"), ("zwei", "drei")
    )
    assert plan.result == "naïve Familie\ndrei"
    assert [(m.line, m.column) for m in plan.matches] == [(1, 7), (2, 1)]


def test_pt_09_overlapping_edits_are_refused_with_both_places() -> None:
    (problem,) = get_problems(
        "one\ntwo three four", ("two three", "x"), ("three four", "y")
    )
    assert problem.trouble == "overlap"
    assert problem.message == "edits[0] at 2:1 and edits[1] at 2:5 overlap"
    assert (problem.line, problem.column) == (2, 5)


def test_pt_09_every_edit_inside_a_longer_one_is_told() -> None:
    inside = ("b", "B"), ("d", "D")
    found = get_problems("a b c d e\n", ("a b c d e", "x"), *inside)
    assert [problem.message for problem in found] == [
        "edits[0] at 1:1 and edits[1] at 1:3 overlap",
        "edits[0] at 1:1 and edits[2] at 1:7 overlap",
    ]


def test_pt_09_touching_edits_are_fine() -> None:
    assert plan_changes("abcdef", ("abc", "1"), ("def", "2")).result == "12"


def test_pt_10_edits_of_different_length_in_any_order() -> None:
    text = "alpha beta gamma delta"
    wanted = "a beta GAMMA-RAY delta"
    one, two = ("alpha", "a"), ("gamma", "GAMMA-RAY")
    assert plan_changes(text, one, two).result == wanted
    assert plan_changes(text, two, one).result == wanted


def test_pt_11_replacing_all_does_not_feed_on_itself() -> None:
    assert plan_changes("a a a", ("a", "aa", True)).result == "aa aa aa"
    assert plan_changes("aaa", ("a", "aa", True)).result == "aaaaaa"


def test_pt_12_an_empty_search_in_an_existing_file() -> None:
    (problem,) = get_problems("something", ("", "x"))
    assert problem.trouble == "empty-old"


def test_pt_12_an_empty_search_creates_the_content_of_an_empty_file() -> None:
    plan = plan_changes("", ("", "hello\n"))
    assert plan.result == "hello\n"
    assert plan.diff.endswith("@@ -0,0 +1 @@\n+hello\n")


def test_pt_13_one_failing_edit_fails_all_and_every_problem_is_told() -> None:
    problems = get_problems(
        "one two two", ("one", "1"), ("two", "2"), ("three", "3"), ("", "4")
    )
    assert [(p.edit, p.trouble) for p in problems] == [
        (1, "ambiguous"),
        (2, "no-match"),
        (3, "empty-old"),
    ]


def test_every_edit_is_planned_on_the_original() -> None:
    """The second would match what the first one writes."""
    (problem,) = get_problems("one", ("one", "two"), ("two", "three"))
    assert (problem.edit, problem.trouble) == (1, "no-match")
    assert plan_changes("one two", ("one", "two"), ("two", "one")).result == "two one"


def test_the_digest_is_that_of_the_bytes_of_the_file() -> None:
    plan = plan_changes("\ufeffgrün", ("grün", "blau"))
    assert plan.result_sha256 == hashlib.sha256("\ufeffblau".encode()).hexdigest()


def test_eg_15_five_hundred_lines_warn() -> None:
    assert describe_oversized(500)
    assert describe_oversized(301)


def test_eg_16_fifty_lines_do_not() -> None:
    assert describe_oversized(50) is None
    assert describe_oversized(300) is None


def test_eg_17_another_threshold_and_the_advice() -> None:
    message = describe_oversized(150, limit=100)
    assert message is not None
    assert "150" in message
    assert "100" in message
    assert "stages" in message


def test_lines_are_counted_where_nobody_said_how_many() -> None:
    assert count_diff_lines("") == 0
    assert count_diff_lines("one") == 1
    assert count_diff_lines("one\ntwo\n") == 2
    assert count_diff_lines("a\n" * 301) == 301
    assert count_diff_lines("a\nb\nc\n", original="a\nx\nc\n") == 2
    assert count_diff_lines("same\n", original="same\n") == 0
    assert count_diff_lines("a\n", original="a") == 2
