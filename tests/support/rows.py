"""Tables of cases: one test walks all rows and names each row that fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])
Failed = list[tuple[str, BaseException]]
NAMED = type(pytest.param())
WRONG = (Exception, pytest.fail.Exception)


def each_row(
    names: str | Sequence[str],
    rows: Iterable[Any],
    *,
    ids: Iterable[object] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """To be used like `parametrize`, where no row needs anything made for it alone.

    To make a test of each of thousands of rows costs more than to look at them.
    """
    columns = names.replace(" ", "").split(",") if isinstance(names, str) else names
    rows = list(rows)
    labels = map(ids, rows) if callable(ids) else ids or rows
    table = list(_label_rows(columns, rows, list(labels)))
    assert table, "A table without rows tests nothing."

    def decorate(test: Test) -> Test:
        def walk(**fixtures: Any) -> None:
            failed: Failed = []
            for label, row in table:
                try:
                    test(**row, **fixtures)
                except WRONG as error:
                    failed.append((label, error))
            _tell(failed, len(table))

        async def walk_async(**fixtures: Any) -> None:
            failed: Failed = []
            for label, row in table:
                try:
                    await test(**row, **fixtures)
                except WRONG as error:
                    failed.append((label, error))
            _tell(failed, len(table))

        made: Any = walk_async if inspect.iscoroutinefunction(test) else walk
        made = wraps(test)(made)
        asked = inspect.signature(test)
        fixtures = [
            each for each in asked.parameters.values() if each.name not in columns
        ]
        made.__signature__ = asked.replace(parameters=fixtures)
        return cast(Test, made)

    return decorate


def _label_rows(
    columns: Sequence[str], rows: list[Any], labels: list[object]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, (row, name) in enumerate(zip(rows, labels, strict=True), 1):
        if isinstance(row, NAMED):
            assert not row.marks, "A row cannot be marked: make it a test of its own."
            values, name = row.values, row.id
        else:
            values = [row] if len(columns) == 1 else row
        label = name if isinstance(name, str) else repr(name)
        yield f"row {number} ({label})", dict(zip(columns, values, strict=True))


def _tell(failed: Failed, count: int) -> None:
    """All failing rows in one message, and the first with its traceback."""
    if failed:
        told = "\n".join(
            f"{label}: {_describe_error(error)}" for label, error in failed
        )
        first = failed[0][1]
        raise AssertionError(f"{len(failed)} of {count} rows failed\n{told}") from first


def _describe_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
