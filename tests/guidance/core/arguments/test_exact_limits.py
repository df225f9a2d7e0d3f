"""What is exactly as large as it may be is taken; one more is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guidance.core.strict_json import (
    DEPTH_LIMIT,
    INTEGER_LIMIT,
    NODE_LIMIT,
    JsonRefused,
    check_size,
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
