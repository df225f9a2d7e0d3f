"""M70, M71 and P47: people's patterns run in linear time or are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.arguments import PatternRefused, compile_pattern
from guidance.core.regex import (
    COUNT_LIMIT,
    PATTERN_LIMIT,
    PatternSet,
    compile_byte_pattern,
    encode_one_byte,
)
from tests.support.examples import examples
from tests.support.rows import each_row

steadily = examples(200)


@each_row(
    "text",
    ["(a)\\1", "(?<=a)b", "(?<!a)b", "(?=a)b", "(?!a)b", "(?P<x>a)(?P=x)", "(?>a)b"],
)
def test_m71_what_needs_backtracking_is_refused(text: str) -> None:
    with pytest.raises(PatternRefused, match="linear time"):
        compile_pattern(text)


@each_row(
    ("text", "why"),
    [
        ("", "empty"),
        ("a" * (PATTERN_LIMIT + 1), "longer"),
        ("(", "missing"),
        ("[z-a]", "range"),
        (f"a{{{COUNT_LIMIT + 1}}}", "count"),
        ("(?:a{60}){60}", "too large|linear"),
        ("\ud800", "surrogate"),
    ],
    ids=["empty", "long", "open", "range", "count", "large", "half"],
)
def test_what_is_no_pattern_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(PatternRefused, match=why):
        compile_pattern(text)


def test_m71_a_bomb_elsewhere_is_harmless_here() -> None:
    """It compiles to six instructions and reads each character once."""
    pattern = compile_pattern("(a+)+$")
    assert pattern.find("a" * 262_143 + "!") == ()
    assert pattern.find("x" + "a" * 100) == ((1, 101),)


def test_places_are_those_of_characters() -> None:
    pattern = compile_pattern(r"(?i)drop\s+table")
    assert pattern.find("für: DROP  table x; drop table y") == ((5, 16), (20, 30))
    assert pattern.find("nothing") == ()
    assert pattern.find("") == ()


def test_a_few_places_are_enough() -> None:
    assert len(compile_pattern("a").find("a" * 1_000)) == 100
    assert len(compile_pattern("a").find("a" * 1_000, limit=3)) == 3


def test_half_of_a_surrogate_pair_is_only_a_character() -> None:
    assert compile_pattern("b").find("a\ud800b") == ((2, 3),)


def test_the_text_of_a_pattern_is_kept() -> None:
    assert compile_pattern("a+").text == "a+"


def test_a_set_says_which_of_its_patterns_match() -> None:
    found = PatternSet(
        compile_byte_pattern(r"\bdrop\s+table", ignore_case=True),
        compile_byte_pattern("secret"),
        compile_byte_pattern("^x"),
    )
    assert set(found.match(b"a secret, then DROP  table y")) == {0, 1}
    assert set(found.match(b"xSECRET")) == {2}
    assert set(found.match(b"nothing")) == set()
    assert set(found.match(b"")) == set()


def test_a_long_text_is_searched_for_each_pattern_of_a_set() -> None:
    found = PatternSet(compile_byte_pattern("secret"), compile_byte_pattern("x+y"))
    text = b"." * 10_000
    assert set(found.match(text)) == set()
    assert set(found.match(text + b"xxy" + text)) == {1}
    assert set(found.match(text + b"xy secret")) == {0, 1}


@steadily
@given(text=st.text("abx {}()[]\n", max_size=40))
def test_a_set_agrees_with_its_patterns(text: str) -> None:
    patterns = [compile_byte_pattern(each) for each in ("a+b", "(?:x|b){2,}", r"\bx\b")]
    data = encode_one_byte(text)
    matching = {
        place for place, each in enumerate(patterns) if each.search(data) is not None
    }
    assert set(PatternSet(*patterns).match(data)) == matching


@steadily
@given(text=st.text("ab()[]{}*+?|^$\\.,0123456789", min_size=1, max_size=20))
def test_any_pattern_compiles_or_is_refused(text: str) -> None:
    try:
        pattern = compile_pattern(text)
    except PatternRefused:
        return
    for start, end in pattern.find("ab(a)b.0{1}", limit=20):
        assert 0 <= start <= end <= 11
