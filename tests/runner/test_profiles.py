"""Both profiles run at the same time, and each tells how it came out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.runner import profiles
from tests.runner.profiles import run_profiles

ROOT = Path(__file__).resolve().parents[2]
# Each passes only if the other has begun before it ends.
MEETING = """
import os, pathlib, time

def test_meeting():
    here = os.environ["PROFILE"]
    pathlib.Path(here).touch()
    (there,) = {"sqlite", "postgres"} - {here}
    end = time.monotonic() + 30
    while not pathlib.Path(there).exists():
        assert time.monotonic() < end
        time.sleep(0.01)

def test_of_one_database():
    assert os.environ["PROFILE"] == "sqlite"
"""


def test_profiles_run_at_once_and_their_outcomes_are_told_apart(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    @contextmanager
    def plain_environment(profile: str) -> Iterator[Mapping[str, str]]:
        data = pytester.mkdir(f"data-{profile}")
        ours = {"PROFILE": profile, "CHECKRAIL_DATA": str(data)}
        paths = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        # As from a command line: in a worker of xdist nobody gathers what came out.
        outer = {n: v for n, v in os.environ.items() if not n.startswith("PYTEST_")}
        yield {**outer, **paths, **ours}

    monkeypatch.setattr(profiles, "prepare_environment", plain_environment)
    pytester.makepyfile(test_both=MEETING)
    pytester.makeini("[pytest]\nmarkers =\n  browser\n  once\n  slow")

    arguments = ["-p", "xdist", "-p", "tests.runner.lanes", "-n", "0", "test_both.py"]
    sqlite, postgres = run_profiles(["sqlite", "postgres"], arguments)

    assert (sqlite.code, postgres.code) == (0, 1)
    assert len(sqlite.outcomes.passed) == 2
    assert postgres.sentence.startswith("PostgreSQL and Redis: FAILED (exit 1) in ")
    printed = capfd.readouterr().out
    first, second = printed.split("===== PostgreSQL and Redis =====")
    assert "2 passed" in first
    assert "1 failed, 1 passed" in second
