"""Which tests a run takes: all, those that a second database repeats, or the quick ones.

The second database repeats what uses a database: pytest knows that from the fixtures of
each test. A test whose outcome cannot depend on the database says so at its file, or for
a whole folder in its `__init__.py`:

    pytestmark = pytest.mark.once("judges requests, not SQL")

Quick is what starts no process and no browser, and is not listed as slow. A folder that is
slow to import says so in the same way: `pytest.mark.slow("why")`. How many are left out is
always printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.runner.costs import SLOW_TESTS, Costs, get_listed_id, read_slow_tests
from tests.runner.launching import starts_processes
from tests.runner.record import Recorder

REPEATED, QUICK, LIGHT = "repeated", "quick", "light"
LEFT_OUT = pytest.StashKey[str]()
# Folders that are left out without a look at what is in them.
FOLDERS = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--lane",
        choices=(REPEATED, QUICK, LIGHT),
        help="run only what every database must pass, or only what is quick",
    )
    parser.addoption(
        "--outcomes", type=Path, help="write what was skipped to this file"
    )
    parser.addoption(
        "--note-slow", action="store_true", help="write the list of slow tests anew"
    )
    parser.addoption(
        "--slow-tests", type=Path, default=SLOW_TESTS, help="use another list of them"
    )


def pytest_configure(config: pytest.Config) -> None:
    outcomes = config.getoption("--outcomes")
    if "PYTEST_XDIST_WORKER" not in os.environ and outcomes is not None:
        config.pluginmanager.register(Recorder(outcomes))
    if config.getoption("--note-slow"):
        config.pluginmanager.register(Costs(config.getoption("--slow-tests")))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A folder that the lane leaves out as a whole need not be imported."""
    unwanted = {REPEATED: "once", QUICK: "slow"}.get(config.getoption("--lane"))
    named = config.option.file_or_dir  # whoever names a folder wants it
    if unwanted is None or named or not (collection_path / "__init__.py").exists():
        return None
    folder = ".".join(collection_path.relative_to(config.rootpath).parts)
    marks = _marks_of_module(import_module(folder))
    if not any(mark.name == unwanted for mark in marks):
        return None
    config.stash.setdefault(FOLDERS, []).append(folder.replace(".", "/"))
    return True


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    for item in items:
        for mark in _marks_of_folders(item):
            item.add_marker(mark)
        if "browser" in _fixtures(item):
            item.add_marker("browser")
        for given in item.iter_markers():
            if given.name in ("once", "slow") and not given.args:
                raise pytest.UsageError(f"{given.name} needs a reason: {item.nodeid}")
    lane = config.getoption("--lane")
    if lane == REPEATED:
        _keep(config, items, [item for item in items if is_repeated(item)])
    elif lane == LIGHT:
        _keep(config, items, [item for item in items if is_light(item)])
    elif lane == QUICK:
        light = [item for item in items if is_light(item)]
        slow = read_slow_tests(config.getoption("--slow-tests"))
        quick = [item for item in light if get_listed_id(item.nodeid) not in slow]
        config.stash[LEFT_OUT] = (
            f"{len(items) - len(quick)} of {len(items)} tests left out: "
            f"{len(light) - len(quick)} are slow, "
            f"{len(items) - len(light)} start processes or browsers"
        ) + "".join(f"; all of {each}" for each in config.stash.get(FOLDERS, []))
        _keep(config, items, quick)
    items[:] = spread_heavy(items, processes=_count_processes(config))


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """A process of xdist tells the first one, which has collected nothing itself."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, "")
    return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", "")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if sentence := config.stash.get(LEFT_OUT, ""):
        terminalreporter.write_line(sentence)


def spread_heavy(items: Sequence[pytest.Item], *, processes: int) -> list[pytest.Item]:
    """Each process begins with its part of the browser tests, in one browser.

    Then come those that start processes: they are long, and the end of a run is no time
    to begin one. Processes are given equal parts of the list, from its beginning to its
    end.
    """
    browser = [item for item in items if item.get_closest_marker("browser")]
    others = [item for item in items if not item.get_closest_marker("browser")]
    starting = [item for item in others if _starts_processes(item)]
    rest = [item for item in others if not _starts_processes(item)]
    spread = []
    for number in range(processes):
        for part in (browser, starting, rest):
            first, last = (len(part) * n // processes for n in (number, number + 1))
            spread += part[first:last]
    return spread


def _count_processes(config: pytest.Config) -> int:
    given: dict[str, int] = getattr(config, "workerinput", {})
    return given.get("workercount", 1)


def is_repeated(item: pytest.Item) -> bool:
    """It uses the database, and nobody said that which one does not matter."""
    return "database" in _fixtures(item) and item.get_closest_marker("once") is None


def is_light(item: pytest.Item) -> bool:
    """It drives no browser, starts no process and imports nothing big."""
    marked = item.get_closest_marker("browser") or item.get_closest_marker("slow")
    return not _starts_processes(item) and marked is None


def _starts_processes(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and starts_processes(item)


def _fixtures(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", [])


def _marks_of_folders(item: pytest.Item) -> Iterator[pytest.MarkDecorator]:
    """What the `__init__.py` of the folders around a test say; pytest reads files only."""
    name = item.module.__name__ if isinstance(item, pytest.Function) else ""
    while "." in name:
        name = name.rpartition(".")[0]
        yield from _marks_of_module(sys.modules[name])


def _marks_of_module(module: ModuleType) -> list[pytest.MarkDecorator]:
    marks = getattr(module, "pytestmark", [])
    return marks if isinstance(marks, list) else [marks]


def _keep(
    config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]
) -> None:
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept
