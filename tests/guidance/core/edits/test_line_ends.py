"""Line ends, marks and missing ends stay as the file has them."""

from __future__ import annotations

import pytest

from tests.guidance.core.edits.builders import layers, plan_changes
from tests.support.rows import each_row


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_an_edit_that_knows_only_lf_takes_the_ends_of_the_file(ending: str) -> None:
    text = ending.join(["one", "two", "three", ""])
    plan = plan_changes(text, ("one\ntwo", "1\n1b\n2"), ("three", "drei\nvier"))
    assert plan.result == ending.join(["1", "1b", "2", "drei", "vier", ""])
    assert layers(plan) == ["exact", "exact"]
    assert [(m.line, m.column) for m in plan.matches] == [(1, 1), (3, 1)]


def test_the_ends_nearest_to_the_place_are_taken() -> None:
    text = "a\r\nb\r\nc\nd\n"
    plan = plan_changes(text, ("b", "b\nB"), ("d", "d\nD"))
    assert plan.result == "a\r\nb\r\nB\r\nc\nd\nD\n"


def test_after_the_last_end_the_one_before_is_taken() -> None:
    assert plan_changes("a\r\nb", ("b", "x\ny")).result == "a\r\nx\r\ny"
    assert plan_changes("ab", ("b", "x\ny")).result == "ax\ny"


def test_half_of_a_crlf_is_never_replaced() -> None:
    assert plan_changes("a\r\nb\r\n", ("\nb", "\nc")).result == "a\r\nc\r\n"
    assert plan_changes("a\r\nb\r\n", ("\n", " ", True)).result == "a b "


def test_an_edit_that_speaks_of_cr_is_taken_literally() -> None:
    assert plan_changes("a\r\nb\r\n", ("\r\n", "\n", True)).result == "a\nb\n"
    assert plan_changes("a\nb\n", ("\n", "\r\n", True)).result == "a\r\nb\r\n"
    assert plan_changes("a\nb", ("a", "x\r\ny")).result == "x\r\ny\nb"


def test_a_crlf_edit_of_an_lf_file_takes_the_ends_of_the_file() -> None:
    assert plan_changes("a\nb\nc\n", ("a\r\nb", "x\r\ny")).result == "x\ny\nc\n"


def test_a_file_without_a_last_end_keeps_it_so() -> None:
    assert plan_changes("a\nb", ("b", "c")).result == "a\nc"
    plan = plan_changes("a\n  b  c", ("b c\n", "x\n"))
    assert (plan.result, layers(plan)) == ("a\n  x", ["whitespace"])


def test_a_byte_order_mark_stays_first() -> None:
    plan = plan_changes("\ufeffone\ntwo\n", ("one", "1"))
    assert plan.result == "\ufeff1\ntwo\n"
    assert (plan.matches[0].line, plan.matches[0].column) == (1, 1)
    assert plan_changes("\ufeff  a  b\n", ("a b", "x")).result == "\ufeff  x\n"
    assert plan_changes("\ufeff", ("", "new\n")).result == "\ufeffnew\n"


@each_row("odd", ["\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c"])
def test_what_only_some_take_for_a_line_end_is_a_character(odd: str) -> None:
    plan = plan_changes(f"a{odd}b\nc", ("b", "x"))
    assert plan.result == f"a{odd}x\nc"
    assert (plan.matches[0].line, plan.matches[0].column) == (1, 3)
