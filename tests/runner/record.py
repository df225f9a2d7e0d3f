"""What a run leaves behind: which tests passed and failed, and why others were skipped."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from heapq import nlargest
from operator import itemgetter
from pathlib import Path

import pytest

# So many folders are named.
DEAREST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """The tests of one profile that passed, that failed, and why others were skipped.

    `seconds` is what each folder took, in all processes together.
    """

    passed: Set[str] = frozenset()
    failed: Sequence[str] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def list_dearest(self) -> list[str]:
        """The folders that took most of the time, in words."""
        dearest = nlargest(DEAREST, self.seconds.items(), key=itemgetter(1))
        return [f"{folder} {seconds:.0f} s" for folder, seconds in dearest]


def read_outcomes(path: Path) -> Outcomes:
    """None, when the run did not even come to its end."""
    if not path.exists():
        return Outcomes()
    written = json.loads(path.read_text())
    return Outcomes(
        passed=set(written["passed"]),
        failed=written["failed"],
        skipped=written["skipped"],
        seconds=written["seconds"],
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


class Recorder:
    """Listens to the reports of all processes, and writes at the end of the session."""

    def __init__(self, outcomes: Path) -> None:
        self._outcomes = outcomes
        self._passed: list[str] = []
        self._skipped: dict[str, str] = {}
        self._failed: set[str] = set()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder = "/".join(report.nodeid.partition("::")[0].split("/")[:2])
        self._seconds[folder] += report.duration
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.skipped and isinstance(report.longrepr, tuple):
            self._skipped[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")
        elif report.when == "call" and report.passed:
            self._passed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        written = {
            "passed": self._passed,
            "failed": sorted(self._failed),
            "skipped": self._skipped,
            "seconds": self._seconds,
        }
        self._outcomes.write_text(json.dumps(written))
