"""Which tests start processes: read from their code, so that nobody has to list them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest

# Whatever starts a process is, or is reached through, one of these names.
LAUNCHERS = {
    *("subprocess", "create_subprocess_exec", "Popen", "stdio_client", "Forked"),
}


def starts_processes(item: pytest.Function) -> bool:
    """Whether the test, or a fixture that it uses, can come to start a process."""
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    functions = [item.function, *(each[-1].func for each in fixtures)]
    return any(map(_launches, functions))


@functools.cache
def _launches(function: Callable[..., Any]) -> bool:
    return _search(function, seen=set())


def _search(function: Callable[..., Any], *, seen: set[int]) -> bool:
    """Follow what the function names, as far as that was written for tests."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None or id(code) in seen:
        return False
    seen.add(id(code))
    names = set(_names(code))
    if names & LAUNCHERS:
        return True
    scope = function.__globals__
    named = [scope[name] for name in names if name in scope]
    return any(_search(each, seen=seen) for each in _functions(named))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _functions(values: list[Any]) -> Iterator[Callable[..., Any]]:
    for value in values:
        if not _is_of_tests(getattr(value, "__module__", None) or ""):
            continue
        if inspect.isclass(value):
            yield from filter(inspect.isfunction, vars(value).values())
        elif callable(value):
            yield value


def _is_of_tests(module: str) -> bool:
    return any(
        part in ("tests", "conftest") or part.startswith("test_")
        for part in module.split(".")
    )
