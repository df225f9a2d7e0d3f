"""What is exactly as large as it may be is taken; one more is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.strict_json import (
    DEPTH_LIMIT,
    INTEGER_LIMIT,
    NODE_LIMIT,
    JsonRefused,
    check_size,
    is_plainly_small,
    parse_integer,
)


def build_nested(depth: int, kind: type[Any]) -> Any:
    """So many containers, one in the other, with a text at the bottom."""
    value: Any = "bottom"
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


@pytest.mark.parametrize("kind", [list, dict])
def test_nesting(kind: type[Any]) -> None:
    assert DEPTH_LIMIT == 32
    check_size(build_nested(32, kind))
    with pytest.raises(JsonRefused, match="deeper than 32"):
        check_size(build_nested(33, kind))


@pytest.mark.parametrize("sign", ["", "-"])
def test_whole_numbers(sign: str) -> None:
    assert INTEGER_LIMIT == 2**53 - 1
    assert parse_integer(f"{sign}{2**53 - 1}") == int(f"{sign}{2**53 - 1}")
    with pytest.raises(JsonRefused, match="outside"):
        parse_integer(f"{sign}{2**53}")


def test_the_number_of_values() -> None:
    check_size([1] * (NODE_LIMIT - 1))
    with pytest.raises(JsonRefused, match=f"more than {NODE_LIMIT:,} values"):
        check_size([1] * NODE_LIMIT)


def test_a_document_at_every_limit_is_read() -> None:
    check_size(json.loads(json.dumps({"deep": build_nested(31, list), "n": 2**53 - 1})))


_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=20) | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=20,
)


@given(_VALUES, st.integers(0, 40), st.booleans(), st.integers(1, 60))
def test_what_is_plainly_small_need_not_be_looked_at(
    value: object, depth: int, as_ascii: bool, longest: int
) -> None:
    for _ in range(depth):
        value = [value]
    text = json.dumps(value, ensure_ascii=as_ascii)
    if not as_ascii and "\ud800" in text:
        return  # no body holds that: it is no UTF-8
    if is_plainly_small(text, longest=longest):
        check_size(json.loads(text), longest=longest)


def test_small_is_told_up_to_the_limits() -> None:
    assert is_plainly_small("[" * 32 + "]" * 32, longest=100)
    assert not is_plainly_small("[" * 33 + "]" * 33, longest=100)
    many = json.dumps([1] * (NODE_LIMIT - 1))
    assert is_plainly_small(many, longest=10**6)
    assert not is_plainly_small(json.dumps([1] * NODE_LIMIT), longest=10**6)
    assert not is_plainly_small('"\\u0000"', longest=100)
    assert not is_plainly_small('"12345"', longest=6)
