"""Forbids every `decide` the database: what it has to know, `load` reads before it.

A whole run of the suite on the first database also fails if there is a class of change
requests that no test has decided: of such a class nothing would be known.
"""

from __future__ import annotations

import inspect
import pkgutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, batch, sql
from tests.runner.database import ROOT

_local = threading.local()
# Classes of change requests that have decided here or in another process of this run.
DECIDED: set[str] = set()
_OUTPUT = "decided_change_requests"


class AskedTheDatabase(AssertionError):
    """`decide` ran a query."""


def forbid_queries(*_args: Any, **_named: Any) -> Any:
    raise AskedTheDatabase("decide asks the database nothing: read it in load")


@contextmanager
def deciding() -> Iterator[None]:
    _local.deciding = True
    try:
        with connection.execute_wrapper(forbid_queries):
            yield
    finally:
        _local.deciding = False


def guard_decide(patch: pytest.MonkeyPatch) -> None:
    decide, execute = batch.decide, sql.execute

    def guarded(
        request: ChangeRequest[Any], run: RunState, at: datetime
    ) -> Change[Any]:
        DECIDED.add(get_name(type(request)))
        with deciding():
            return decide(request, run, at)

    def checked(text: str, given: Sequence[Any]) -> list[sql.Row]:
        if getattr(_local, "deciding", False):
            forbid_queries()
        return execute(text, given)

    patch.setattr(batch, "decide", guarded)
    patch.setattr(sql, "execute", checked)


def get_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def list_undecided(decided: Iterable[str]) -> list[str]:
    """The application's change requests that are not among these."""
    _import_applications()
    ours = {
        get_name(kind)
        for kind in _list_subclasses(ChangeRequest)
        if not inspect.isabstract(kind) and not kind.__module__.startswith("tests.")
    }
    return sorted(ours - set(decided))


def _import_applications() -> None:
    """Every module in which a change request may be defined."""
    for app in apps.get_app_configs():
        if Path(app.path).parent == ROOT:
            for module in pkgutil.walk_packages([app.path], f"{app.name}."):
                import_module(module.name)


def _list_subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _list_subclasses(each)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A process of this run has ended."""
    DECIDED.update(getattr(node, "workeroutput", {}).get(_OUTPUT, ()))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = sorted(DECIDED)
    elif exitstatus == 0 and list_missing(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    missing = list_missing(config)
    if missing:
        terminalreporter.section("change requests that no test has decided")
        for name in missing:
            terminalreporter.write_line(name)


def list_missing(config: pytest.Config) -> list[str]:
    return list_undecided(DECIDED) if is_whole_run(config) else []


def is_whole_run(config: pytest.Config) -> bool:
    """All tests of the first database: nothing was named, and nothing left out."""
    option = config.option
    chosen = (option.lane, option.keyword, option.markexpr, option.collectonly)
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    return not named and not any(chosen)
