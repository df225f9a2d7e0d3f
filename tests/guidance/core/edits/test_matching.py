"""The three layers: each only when the one before has nothing, and always unique."""

from __future__ import annotations

from random import Random

import pytest

from tests.guidance.core.edits.builders import get_problems, layers, plan_changes

CODE = """\
def total(items):
    result = 0
    for item in items:
        result += item.price * item.count
    return result


def names(items):
    return [item.name for item in items]
"""


def test_exact_is_preferred_to_everything_else() -> None:
    plan = plan_changes("a  b\na b\n", ("a b", "x"))
    assert plan.result == "a  b\nx\n"
    assert layers(plan) == ["exact"]


def test_an_exact_match_may_lie_within_a_line() -> None:
    assert plan_changes(CODE, ("price", "cost")).matches[0].column == 24


def test_overlapping_occurrences_make_an_edit_ambiguous() -> None:
    (problem,) = get_problems("aaa", ("aa", "b"))
    assert "2 places (1:1, 1:2)" in problem.message


def test_many_places_are_named_by_the_first_five() -> None:
    (problem,) = get_problems("x\n" * 50, ("x", "y"))
    assert "more than 5 places (1:1, 2:1, 3:1, 4:1, 5:1 …)" in problem.message


def test_lines_with_other_white_space() -> None:
    plan = plan_changes(CODE, ("result  =  0\n\tfor item in items:", "result = 1"))
    assert layers(plan) == ["whitespace"]
    assert "def total(items):\n    result = 1\n        result +=" in plan.result


def test_white_space_lines_do_not_swallow_the_line_end() -> None:
    plan = plan_changes("a\n  b  c\nd\n", ("b c", "x"))
    assert plan.result == "a\n  x\nd\n"
    plan = plan_changes("a\n  b  c\nd\n", ("  b c\n", "  x\n"))
    assert plan.result == "a\n  x\nd\n"


def test_the_file_keeps_its_own_indentation() -> None:
    assert plan_changes("    a  =  1\n", ("  a = 1", "  b = 2")).result == "    b = 2\n"


def test_white_space_lines_must_be_unique_too() -> None:
    (problem,) = get_problems("a  b\na   b\n", ("a b\n", "x\n"))
    assert problem.trouble == "ambiguous"
    plan = plan_changes("a  b\na   b\n", ("a b\n", "x\n", True))
    assert plan.result == "x\nx\n"
    assert layers(plan) == ["whitespace", "whitespace"]


def test_only_whole_lines_match_by_white_space() -> None:
    assert get_problems("say a  b now\n", ("a b", "x"))[0].trouble == "no-match"


def test_white_space_alone_has_to_match_to_the_letter() -> None:
    assert get_problems("a\n\n\nb", ("\n\t\n", ""))[0].trouble == "no-match"


def test_lines_that_are_nearly_the_same() -> None:
    plan = plan_changes(
        CODE,
        ("        result += item.prize * item.count", "        result += item.cost"),
    )
    assert layers(plan) == ["similarity"]
    assert "        result += item.cost\n    return result" in plan.result


def test_one_line_of_three_that_differs_in_a_word() -> None:
    old = (
        "    for item in items:\n        result += item.price * item.amount\n    return"
    )
    wanted = old.replace("return", "return result")
    plan = plan_changes(CODE, (wanted, "    return 1"))
    assert layers(plan) == ["similarity"]
    assert "    result = 0\n    return 1\n\n\ndef names" in plan.result


def test_less_than_ninety_per_cent_is_not_the_same() -> None:
    assert get_problems("value = 123\n", ("value = 987", "x"))[0].trouble == "no-match"
    # Nine of ten characters are shared: exactly the limit.
    assert layers(plan_changes("value = 12\n", ("value = 13", "x"))) == ["similarity"]


def test_two_similar_places_are_ambiguous() -> None:
    text = "the quick brown fox jumps\nother\nthe quick brown fox jumpt\n"
    (problem,) = get_problems(text, ("the quick brown fox jumpz", "x"))
    assert problem.trouble == "ambiguous"
    plan = plan_changes(text, ("the quick brown fox jumpz", "x", True))
    assert plan.result == "x\nother\nx\n"


def test_neighbouring_windows_of_a_long_block_are_one_match() -> None:
    lines = [f"line number {n} of a long block of text\n" for n in range(40)]
    old = "".join(lines[5:35]).replace("number 20", "nummer 20")
    plan = plan_changes("".join(lines), (old, "short\n"))
    assert plan.result == "".join([*lines[:5], "short\n", *lines[35:]])


def test_a_line_more_in_the_file_does_not_cut_the_match_short() -> None:
    lines = [f"statement_{n} = compute({n})\n" for n in range(30)]
    file = "".join([*lines[:12], "# a comment\n", *lines[12:]])
    plan = plan_changes(file, ("".join(lines[5:25]), "block\n"))
    assert plan.result == "".join([*lines[:5], "block\n", *lines[25:]])


def test_the_best_of_two_that_touch_each_other_wins() -> None:
    text = "aaaaaaaaaaaaaaaaaaab\naaaaaaaaaaaaaaaaaaac\n"
    plan = plan_changes(text, ("aaaaaaaaaaaaaaaaaaab\naaaaaaaaaaaaaaaaaaad", "x"))
    assert plan.result == "x\n"


@pytest.mark.parametrize("letter", ["\u00e9", "e\u0301"])
def test_composed_and_decomposed_letters_are_different(letter: str) -> None:
    """M36: nothing is normalised, in the search or in the result."""
    both = "caf\u00e9 and cafe\u0301"
    plan = plan_changes(both, (f"caf{letter}", "tea"))
    assert plan.result in ("tea and cafe\u0301", "caf\u00e9 and tea")
    assert layers(plan) == ["exact"]


@pytest.mark.parametrize("first", ["a", "\u0430", "\u4e00", "\U0001f600"])
@pytest.mark.parametrize("letters", [20, 300])
def test_similar_lines_in_any_letters(first: str, letters: int) -> None:
    """Letters beyond the first 256 are written as others before they are compared."""
    drawn = Random(letters)
    alphabet = [chr(ord(first) + n) for n in range(letters)]
    lines = ["".join(drawn.choices(alphabet, k=400)) for _ in range(12)]
    wanted = lines[7][:100] + "~!" + lines[7][103:]
    plan = plan_changes("\n".join(lines), (wanted, "x"))
    assert layers(plan) == ["similarity"]
    assert plan.result == "\n".join([*lines[:7], "x", *lines[8:]])
    lost = lines[7][:180] + "~" * 80 + lines[7][260:]
    assert get_problems("\n".join(lines), (lost, "x"))[0].trouble == "no-match"
