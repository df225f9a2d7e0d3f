"""What a test costs: the time of a processor, which no busy machine makes longer.

`make test ARGS="--only sqlite --lane=light --note-slow"` writes `slow_tests.json` anew: the
tests that `make quick` leaves out, by their files. A test with rows counts by their mean.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

SLOW_TESTS = Path(__file__).with_name("slow_tests.json")
SLOW_SECONDS = 0.03
KEY = "costs"


def read_slow_tests(path: Path) -> Set[str]:
    """Their ids, without rows. A test that is new is not among them."""
    listed: dict[str, list[str]] = json.loads(path.read_text())
    return {f"{file}::{name}" for file, names in listed.items() for name in names}


def get_listed_id(test: str) -> str:
    return test.partition("[")[0]


class Costs:
    """Measures each test in its process, and gathers what all processes have measured."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began = time.process_time()
        done = yield
        self._seconds[item.nodeid] = time.process_time() - began
        return done

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._seconds |= node.workeroutput[KEY]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[KEY] = self._seconds
        else:
            self._path.write_text(render_slow_tests(self._seconds))


def render_slow_tests(seconds: Mapping[str, float]) -> str:
    """A line for each file, so that a change of one is a change of one line."""
    rows = defaultdict(list)
    for test, each in seconds.items():
        rows[get_listed_id(test)].append(each)
    files: dict[str, list[str]] = defaultdict(list)
    for test in sorted(rows):
        if mean(rows[test]) > SLOW_SECONDS:
            path, _, name = test.partition("::")
            files[path].append(name)
    lines = [f"  {json.dumps(path)}: {json.dumps(files[path])}" for path in files]
    return "{\n" + ",\n".join(lines) + "\n}\n"
