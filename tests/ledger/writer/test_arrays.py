"""PostgreSQL reads an array as it was given, however it was written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import to_jcs
from ledger.writer.sql import SPLIT_JSON, execute, format_array, join_json
from tests.support.examples import examples

many = examples(1_000)
# The database holds no NUL, and no half of a surrogate pair.
letters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
texts = st.text(letters) | st.sampled_from(
    ['"', "\\", '\\"', "{", "}", ",", "NULL", "null", "", " ", "a,b", '","', "\n"]
)
numbers = st.integers(-(2**63), 2**63 - 1)
moments = st.just(datetime(2026, 11, 17, 9, 30, tzinfo=UTC))


@pytest.fixture(autouse=True)
def on_postgresql(database: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no arrays.")


def read_back(values: list[Any], kind: str) -> list[Any]:
    asked = f"SELECT unnest(%s::{kind}[])"
    return [value for (value,) in execute(asked, [format_array(values)])]


@many
@given(st.lists(texts) | st.lists(texts | st.none()))
def test_texts(values: list[str | None]) -> None:
    assert read_back(values, "text") == values


@many
@given(st.lists(numbers) | st.lists(numbers | st.none()))
def test_numbers(values: list[int | None]) -> None:
    assert read_back(values, "bigint") == values


@many
@given(st.lists(st.booleans() | st.none()))
def test_truths(values: list[bool | None]) -> None:
    assert read_back(values, "boolean") == values


@many
@given(st.lists(moments | st.none()))
def test_moments(values: list[datetime | None]) -> None:
    assert read_back(values, "timestamptz") == values


@many
@given(texts, st.integers(2, 5))
def test_one_text_that_all_have(text: str, count: int) -> None:
    assert read_back([text] * count, "text") == [text] * count


@pytest.mark.parametrize("write", [to_canonical_json, to_jcs])
@many
@given(values=st.lists(st.lists(st.text(letters) | st.integers(-9, 9)), min_size=1))
def test_texts_of_json_are_split_where_they_were_joined(
    write: Callable[[object], str], values: list[list[str | int]]
) -> None:
    written = [write(value) for value in values]
    found = execute(f"SELECT unnest({SPLIT_JSON})", [join_json(written)])
    assert [text for (text,) in found] == written


def test_what_would_be_split_elsewhere_is_refused() -> None:
    with pytest.raises(ValueError, match="control character"):
        join_json(["{}", '"\x1f"'])
