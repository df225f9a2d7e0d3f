"""Both profiles run at the same time, and each tells how it came out."""

from __future__ import annotations

import os
import subprocess
import sys
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
# Each file says how many runs its test fails before it passes.
UNSTEADY = """
import pathlib
import pytest

@pytest.mark.parametrize("name", {names})
def test_named(name, pytestconfig):
    assert pytestconfig.getoption("own_seed") == "7"
    tries = pathlib.Path(name)
    done = int(tries.read_text()) if tries.exists() else 0
    tries.write_text(str(done + 1))
    assert done not in {failing}
"""
OWN_SEED = "def pytest_addoption(parser): parser.addoption('--own-seed')"
ARGUMENTS = ("-p", "xdist", "-p", "tests.runner.lanes", "-n", "0")


@pytest.fixture(autouse=True)
def plain(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the services of each profile and without the project's own settings."""

    @contextmanager
    def plain_environment(profile: str) -> Iterator[Mapping[str, str]]:
        data = pytester.mkdir(f"data-{profile}")
        ours = {"PROFILE": profile, "CHECKRAIL_DATA": str(data)}
        paths = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        # As from a command line: in a worker of xdist nobody gathers what came out.
        outer = {n: v for n, v in os.environ.items() if not n.startswith("PYTEST_")}
        yield {**outer, **paths, **ours}

    monkeypatch.setattr(profiles, "prepare_environment", plain_environment)
    pytester.makeini("[pytest]\nmarkers =\n  browser\n  once\n  slow")


def test_profiles_run_at_once_and_their_outcomes_are_told_apart(
    pytester: pytest.Pytester, capfd: pytest.CaptureFixture[str]
) -> None:
    pytester.makepyfile(test_both=MEETING)
    arguments = [*ARGUMENTS, "test_both.py"]
    sqlite, postgres = run_profiles(["sqlite", "postgres"], arguments)

    assert (sqlite.code, postgres.code) == (0, 1)
    assert len(sqlite.outcomes.passed) == 2
    assert postgres.sentence.startswith("PostgreSQL and Redis: FAILED (exit 1) in ")
    printed = capfd.readouterr().out
    first, second = printed.split("===== PostgreSQL and Redis =====")
    assert "2 passed" in first
    assert "1 failed, 1 passed" in second


@pytest.mark.parametrize(
    ("count", "failing", "strict", "code", "tries"),
    [
        (4, {0}, False, 0, 4),  # disturbed once: it passes three times alone
        (4, {0}, True, 1, 1),
        (5, {0}, False, 1, 1),  # so many are no disturbance
        (1, {0, 3}, False, 1, 4),
        (1, {0, 1}, False, 1, 2),  # no third try after it has failed alone
        (1, set(), False, 0, 1),
    ],
)
def test_a_few_that_failed_are_tried_alone(
    pytester: pytest.Pytester,
    count: int,
    failing: set[int],
    strict: bool,
    code: int,
    tries: int,
) -> None:
    names = [f"name-{number}" for number in range(count)]
    pytester.makeconftest(OWN_SEED)
    pytester.makepyfile(test_few=UNSTEADY.format(names=names, failing=failing or {-1}))
    arguments = [*ARGUMENTS, "--own-seed=7", "test_few.py"]
    (result,) = run_profiles(["sqlite"], arguments, strict=strict)
    assert result.code == code
    assert [int(Path(name).read_text()) for name in names] == [tries] * count
    told = [f"test_few.py::test_named[{name}]" for name in names] if tries == 4 else []
    assert list(result.unsteady) == (told if code == 0 else [])


def test_a_run_that_broke_off_is_not_tried_again(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_few="import nothing_of_the_kind")
    (result,) = run_profiles(["sqlite"], [*ARGUMENTS, "test_few.py"], strict=False)
    assert result.code == pytest.ExitCode.INTERRUPTED


def test_pytest_alone_leaves_nothing_behind(tmp_path: Path) -> None:
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    ours = ("PYTEST", "CHECKRAIL_", "DATABASE_URL", "REDIS_URL", "DJANGO", "SECRET")
    outer = {n: v for n, v in os.environ.items() if not n.startswith(ours)}
    test = ROOT / "tests/accounts/test_owners.py"
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-c",
            ROOT / "pyproject.toml",
            f"{test}::test_whoever_makes_a_key_names_the_owner",
        ],
        cwd=here,
        env={**outer, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed" in ended.stdout
    assert list(here.iterdir()) == list(temporary.iterdir()) == []
