"""Which tests a run takes: all, those that a second database repeats, or the quick ones.

The second database repeats what uses a database: pytest knows that from the fixtures of
each test. A test whose outcome cannot depend on the database says so at its file, or for
a whole folder in its `__init__.py`:

    pytestmark = pytest.mark.once("judges requests, not SQL")

Quick is what starts no process and no browser, and was not slow the last times.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launching import starts_processes
from tests.record import Recorder, read_durations

REPEATED, QUICK = "repeated", "quick"
SLOW_SECONDS = 0.5


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--lane",
        choices=(REPEATED, QUICK),
        help="run only what every database must pass, or only what is quick",
    )
    parser.addoption(
        "--outcomes", type=Path, help="write what was skipped to this file"
    )


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ and not config.option.collectonly:
        config.pluginmanager.register(Recorder(config.getoption("--outcomes")))


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    for item in items:
        for mark in _marks_of_folders(item):
            item.add_marker(mark)
        if "browser" in _fixtures(item):
            item.add_marker("browser")
        once = item.get_closest_marker("once")
        if once and not once.args:
            raise pytest.UsageError(f"once needs a reason: {item.nodeid}")
    lane = config.getoption("--lane")
    if lane == REPEATED:
        _keep(config, items, [item for item in items if is_repeated(item)])
    elif lane == QUICK:
        seconds = {test: min(each) for test, each in read_durations().items()}
        quick = [item for item in items if seconds.get(item.nodeid, 0) <= SLOW_SECONDS]
        _keep(config, items, [item for item in quick if is_light(item)])


def is_repeated(item: pytest.Item) -> bool:
    """It uses the database, and nobody said that which one does not matter."""
    return "database" in _fixtures(item) and item.get_closest_marker("once") is None


def is_light(item: pytest.Item) -> bool:
    """It drives no browser and starts no process."""
    processes = isinstance(item, pytest.Function) and starts_processes(item)
    return not processes and item.get_closest_marker("browser") is None


def _fixtures(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", [])


def _marks_of_folders(item: pytest.Item) -> Iterator[pytest.MarkDecorator]:
    """What the `__init__.py` of the folders around a test say; pytest reads files only."""
    name = item.module.__name__ if isinstance(item, pytest.Function) else ""
    while "." in name:
        name = name.rpartition(".")[0]
        marks = getattr(sys.modules[name], "pytestmark", ())
        yield from marks if isinstance(marks, list | tuple) else [marks]


def _keep(
    config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]
) -> None:
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept
