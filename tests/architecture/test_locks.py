"""The lock files are in step with pyproject.toml and say nothing about any machine."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME = (ROOT / "requirements.lock").read_text()
DEV = (ROOT / "requirements-dev.lock").read_text()


def versions(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)==([^ ;]+)", lock, re.MULTILINE))


def out_of_step(requirements: list[str], *, lock: str) -> list[str]:
    locked = versions(lock)
    return [
        str(wanted)
        for wanted in map(Requirement, requirements)
        if locked.get(canonicalize_name(wanted.name), "") not in wanted.specifier
    ]


def test_the_runtime_lock_answers_every_dependency() -> None:
    assert out_of_step(PROJECT["project"]["dependencies"], lock=RUNTIME) == []


def test_the_dev_lock_answers_every_dependency_of_development() -> None:
    assert out_of_step(PROJECT["dependency-groups"]["dev"], lock=DEV) == []


def test_the_dev_lock_contains_the_runtime_lock() -> None:
    assert versions(RUNTIME).items() <= versions(DEV).items()


@pytest.mark.parametrize("lock", [RUNTIME, DEV], ids=["runtime", "dev"])
def test_a_lock_names_no_host_and_no_path(lock: str) -> None:
    assert re.findall(r"://|--(?:extra-)?index-url|--find-links|file:", lock) == []


@pytest.mark.parametrize("lock", [RUNTIME, DEV], ids=["runtime", "dev"])
def test_every_package_of_a_lock_has_hashes(lock: str) -> None:
    without = re.findall(r"^(\S+==\S+.*[^\\])$", lock, re.MULTILINE)
    assert without == []


def test_the_lock_of_the_npm_packages_names_no_host_and_has_hashes() -> None:
    text = (ROOT / "tests/node/package-lock.json").read_text()
    packages = json.loads(text)["packages"]
    wanted = json.loads((ROOT / "tests/node/package.json").read_text())

    assert "://" not in text
    assert packages.pop("")["dependencies"] == wanted["dependencies"]
    assert [name for name, each in packages.items() if "integrity" not in each] == []


def test_every_direct_dependency_has_its_reasons_written_down() -> None:
    reasons = (ROOT / "docs/dependencies.md").read_text()
    wanted = [
        *PROJECT["project"]["dependencies"],
        *PROJECT["dependency-groups"]["dev"],
    ]
    names = [Requirement(text).name for text in wanted]
    assert [name for name in names if f"| {name} " not in reasons] == []
