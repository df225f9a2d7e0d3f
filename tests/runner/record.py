"""What a run leaves behind: how long each test took, and which were skipped."""

from __future__ import annotations

import fcntl
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.runner.database import CACHE, ROOT

DURATIONS = CACHE / "durations.json"
# A test counts by the best of its last times: a busy machine slows what it likes.
REMEMBERED = 3

Durations = dict[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """The tests of one profile that passed, that failed, and why others were skipped."""

    passed: Set[str] = frozenset()
    failed: Sequence[str] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


def read_outcomes(path: Path) -> Outcomes:
    """None, when the run did not even come to its end."""
    if not path.exists():
        return Outcomes()
    written = json.loads(path.read_text())
    return Outcomes(
        passed=set(written["passed"]),
        failed=written["failed"],
        skipped=written["skipped"],
    )


def left_out(profiles: Sequence[Outcomes]) -> list[str]:
    """A sentence for each reason why tests were run in no profile at all."""
    passed = set().union(*(each.passed for each in profiles))
    skipped = {test: why for each in profiles for test, why in each.skipped.items()}
    counts = Counter(why for test, why in skipped.items() if test not in passed)
    return [
        f"{count} {'test' if count == 1 else 'tests'}: {why}"
        for why, count in sorted(counts.items())
    ]


def read_durations() -> Durations:
    try:
        durations: Durations = json.loads(DURATIONS.read_text())
    except FileNotFoundError:
        return {}
    return durations


class Recorder:
    """Listens to the reports of all processes, and writes at the end of the session."""

    def __init__(self, outcomes: Path | None) -> None:
        self._outcomes = outcomes
        self._seconds: dict[str, float] = {}
        self._skipped: dict[str, str] = {}
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.skipped and isinstance(report.longrepr, tuple):
            self._skipped[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")
        elif report.when == "call" and report.passed:
            self._seconds[report.nodeid] = round(report.duration, 3)

    def pytest_sessionfinish(self) -> None:
        CACHE.mkdir(exist_ok=True)
        # Both profiles may end at the same time.
        with Path(CACHE, "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            DURATIONS.write_text(json.dumps(self._merge(read_durations())))
        if self._outcomes is not None:
            written = {
                "passed": list(self._seconds),
                "failed": sorted(self._failed),
                "skipped": self._skipped,
            }
            self._outcomes.write_text(json.dumps(written))

    def _merge(self, durations: Durations) -> Durations:
        for test, seconds in self._seconds.items():
            durations[test] = [seconds, *durations.get(test, ())][:REMEMBERED]
        there = {path for path in _files(durations) if Path(ROOT, path).exists()}
        return {test: each for test, each in durations.items() if _file(test) in there}


def _files(tests: Iterable[str]) -> set[str]:
    return set(map(_file, tests))


def _file(test: str) -> str:
    return test.partition("::")[0]
