"""A night works in a clone, by a Python of the machine, and leaves a page behind."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.night import __main__ as night
from tests.night import pythons
from tests.night.pythons import choose_python, find_pythons

SAYS = (sys.executable, "-c")


def put_python(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of a night that is soon over."""
    monkeypatch.setattr(night, "CACHE", tmp_path)
    monkeypatch.setattr(night, "LAST", tmp_path / "last.md")
    monkeypatch.setattr(night, "SETUP", ("true",))
    return tmp_path / "last.md"


def run_night(
    monkeypatch: pytest.MonkeyPatch, parts: Mapping[str, Sequence[str]], *words: str
) -> int:
    monkeypatch.setattr(night, "list_parts", lambda _seed: parts)
    return night.main(["--seed", "7", "--python", sys.executable, *words])


def test_the_first_that_works_of_each_version_is_found(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    put_python(first, "python3.11", "echo 3.11.9")
    put_python(second, "python3.11", "echo 3.11.2")
    put_python(first, "python3.12", "echo 3.13.1")  # it is another one
    put_python(first, "python3.13", "exit 1")  # a shim of nothing
    put_python(second, "python3.13", "echo 3.13.4")
    put_python(second, "python3.15", "echo 3.15.0")  # there are no wheels for it
    assert find_pythons([first, tmp_path / "none", second]) == {
        "3.11": str(first / "python3.11"),
        "3.13": str(second / "python3.13"),
    }


def test_each_version_has_its_nights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("3.11", "3.12", "3.14"):
        put_python(tmp_path, f"python{version}", f"echo {version}.0")
    monkeypatch.setattr(pythons, "_list_folders", lambda: [tmp_path])
    chosen = [choose_python(seed) for seed in range(20)]
    assert {Path(each).name for each in chosen} == {
        *("python3.11", "python3.12", "python3.14")
    }
    assert chosen == [choose_python(seed) for seed in range(20)]


def test_it_works_in_a_clone_and_leaves_a_page(
    last: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    look = "import os, sys; print('suite: in', os.getcwd()); print('noise')"
    parts = {
        "suite": (*SAYS, look),
        "mutants": (*SAYS, "print('mutants: 9 of 12 noticed'); raise SystemExit(3)"),
        "bench": (*SAYS, "print('bench: as fast as last')"),
    }
    assert run_night(monkeypatch, parts) == 1
    page = last.read_text()
    assert f"- Began: {datetime.now(UTC):%Y-%m-%d}" in page
    assert "- Again: `make nightly SEED=7`" in page
    assert f"- Python: {sys.version.split()[0]}" in page
    assert [line for line in page.splitlines() if line.startswith("| ")] == [
        "| Part | Outcome | Took |",
        "| setup | green | 0 min |",
        "| suite | green | 0 min |",
        "| mutants | **red** (exit 3) | 0 min |",
        "| bench | green | 0 min |",
    ]
    assert f"suite: in {last.parent / 'night'}" in page
    assert "mutants: 9 of 12 noticed" in page
    assert "noise" not in page
    assert "noise" in capsys.readouterr().out
    assert not (last.parent / "night").exists()


def test_without_its_packages_nothing_else_is_run(
    last: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(night, "SETUP", ("false",))
    parts = {"suite": (*SAYS, "print('suite: ran')")}
    assert run_night(monkeypatch, parts) == 1
    assert "| setup | **red** (exit 1) |" in last.read_text()
    assert "suite" not in last.read_text()


def test_one_part_may_be_asked_for(last: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {name: (*SAYS, f"print('{name}: ran')") for name in ("suite", "bench")}
    assert run_night(monkeypatch, said, "--only", "bench") == 0
    assert "bench: ran" in last.read_text()
    assert "suite: ran" not in last.read_text()


def test_its_parts_are_the_verbs_of_the_suite() -> None:
    parts = night.list_parts(7)
    assert [*parts] == ["suite", "mutants", "bench"]
    assert [*parts["suite"]][2:] == ["tests.suite", "--nightly", "--seed", "7"]
    assert [*parts["bench"]][2:] == ["bench", "--check"]
    assert "--since" in parts["mutants"]
