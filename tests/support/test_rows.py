"""A table is walked to its end, and what fails in it is told by its row."""

from __future__ import annotations

import inspect

import pytest

from tests.support.rows import each_row


def test_every_failing_row_is_named_and_every_row_is_tried() -> None:
    tried = []

    @each_row("number, double", [(1, 2), (2, 5), pytest.param(3, 7, id="SR-3"), (4, 8)])
    def table(number: int, double: int) -> None:
        tried.append(number)
        assert number * 2 == double

    with pytest.raises(AssertionError) as told:
        table()  # type: ignore[call-arg]
    assert tried == [1, 2, 3, 4]
    first, *rows = str(told.value).splitlines()
    assert first == "2 of 4 rows failed"
    assert [line.split(":")[0] for line in rows if line.startswith("row")] == [
        "row 2 ((2, 5))",
        "row 3 (SR-3)",
    ]
    assert "(2 * 2) == 5" in str(told.value)
    assert "(3 * 2) == 7" in str(told.value)


def test_a_row_that_raises_or_does_not_raise_has_failed() -> None:
    @each_row("text", ["1", "one"], ids=["a figure", "a word"])
    def table(text: str) -> None:
        with pytest.raises(KeyError):
            int(text)

    with pytest.raises(AssertionError, match=r"row 1 \(a figure\).*DID NOT RAISE"):
        table()  # type: ignore[call-arg]
    with pytest.raises(AssertionError, match=r"row 2 \(a word\): ValueError"):
        table()  # type: ignore[call-arg]


async def test_a_row_may_have_to_be_awaited() -> None:
    @each_row("number", [1, 2])
    async def table(number: int) -> None:
        assert number == 1

    with pytest.raises(AssertionError, match=r"1 of 2 rows failed\nrow 2"):
        await table()  # type: ignore[call-arg]


def test_fixtures_are_asked_for_once_and_columns_are_none() -> None:
    @each_row(("first", "second"), [(1, 2)])
    def table(first: int, second: int, tmp_path: object) -> None:
        assert (first, second, tmp_path) == (1, 2, "here")

    assert list(inspect.signature(table).parameters) == ["tmp_path"]
    table(tmp_path="here")  # type: ignore[call-arg]


def test_a_table_that_tests_nothing_is_refused() -> None:
    with pytest.raises(AssertionError, match="tests nothing"):
        each_row("number", [])
    with pytest.raises(ValueError, match="zip"):
        each_row("first, second", [(1,)])
