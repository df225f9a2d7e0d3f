"""`.ci/setup` installs the whole lock with its hashes, and shows what pip said if it fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.database import ROOT

LOCK = "\n".join(
    f"package-{number}==1.{number} ; python_version > '3' \\\n    --hash=sha256:{number:064}\n    # via it"
    for number in range(7)
)
# Stands for a Python with pip: it notes what it is asked to install.
PYTHON = """#!/bin/sh
case "$*" in
*sys._base_executable*) echo "$PWD/python" ;;
*"import pip"*) exit ${NO_PIP:-0} ;;
"-m venv"*) mkdir -p .venv/bin && cp "$PWD/python" .venv/bin/python ;;
"-m ensurepip"*) echo "$0 $*" >>asked ;;
*install*)
    echo "$0 $*" >>asked
    for lock; do :; done
    cat "$lock" >>installed
    echo "pip says something about $lock"
    exit ${PIP_EXIT:-0}
    ;;
--version) echo "Python 3" ;;
esac
"""
# This Python, after it was changed into another.
CHANGED = """#!/bin/sh
exec {python} -c "import sys, sysconfig; {change}; exec(sys.argv[1])" "$2"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "setup", tmp_path / ".ci" / "setup")
    (tmp_path / "requirements.lock").write_text(f"# Made by a tool\n{LOCK}\n")
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def run(project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    # Without uv, whichever machine this is.
    path = "/usr/bin:/bin"
    environment = {**os.environ, "PATH": path, "PYTHON": str(project / "python")}
    return subprocess.run(
        ["/bin/sh", ".ci/setup", "runtime"],
        cwd=project,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_package_is_installed_once_with_its_hash(project: Path) -> None:
    ended = run(project)
    assert ended.returncode == 0, ended.stderr
    installed = (project / "installed").read_text().splitlines()
    lock = (project / "requirements.lock").read_text().splitlines()
    assert sorted(installed) == sorted(lock)
    asked = (project / "asked").read_text().splitlines()
    assert all(
        "--require-hashes --no-deps --only-binary :all:" in each for each in asked
    )
    assert all("-m pip --python .venv/bin/python install" in each for each in asked)


def test_one_line_is_printed_and_the_second_time_none(project: Path) -> None:
    first, second = run(project), run(project)
    assert first.stdout.count("\n") == 1
    assert "installing 7 packages" in first.stdout
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")


def test_a_python_without_pip_gives_the_environment_its_own(project: Path) -> None:
    ended = run(project, NO_PIP="1")
    assert ended.returncode == 0, ended.stderr
    given, *asked = (project / "asked").read_text().splitlines()
    assert given == ".venv/bin/python -m ensurepip"
    assert all(each.startswith(".venv/bin/python -m pip install") for each in asked)


def test_what_pip_said_is_shown_if_it_fails_and_the_next_time_it_is_tried_again(
    project: Path,
) -> None:
    ended = run(project, PIP_EXIT="1")
    assert ended.returncode == 1
    assert "pip says something about .cache/setup-parts/" in ended.stderr
    assert "setup: installing failed" in ended.stderr
    assert run(project).returncode == 0


def test_a_changed_lock_is_installed_into_the_same_environment(project: Path) -> None:
    run(project)
    (project / ".venv" / "mine").write_text("")
    (project / "installed").unlink()
    (project / "requirements.lock").write_text("other==1 \\\n    --hash=sha256:0\n")
    assert run(project).returncode == 0
    assert "other==1" in (project / "installed").read_text()
    assert (project / ".venv" / "mine").exists()


@pytest.mark.parametrize(
    "change",
    [
        "sys.version_info = (3, 10, 14)",
        "sys.version_info = (3, 15, 0)",
        "sysconfig.get_config_var = {'Py_GIL_DISABLED': 1}.get",
    ],
)
def test_a_python_that_the_lock_has_no_wheels_for_is_passed_over(
    project: Path, change: str
) -> None:
    other = project / "other"
    other.write_text(CHANGED.format(python=sys.executable, change=change))
    other.chmod(0o755)
    alone = run(project, PYTHON=str(other))
    assert alone.returncode == 1
    assert "no Python 3.11 to 3.14" in alone.stderr
    assert run(project, PYTHON=f"{other} {project / 'python'}").returncode == 0


def test_an_environment_whose_python_is_gone_is_made_anew(project: Path) -> None:
    run(project)
    (project / ".venv" / "mine").write_text("")
    (project / ".venv" / "bin" / "python").unlink()
    assert run(project).returncode == 0
    assert not (project / ".venv" / "mine").exists()


@pytest.mark.parametrize("minor", [11, 14])
def test_the_first_python_that_fits_is_taken(project: Path, minor: int) -> None:
    """The other would not do, but is not asked any more."""
    first = project / "first"
    fits = CHANGED.format(
        python=sys.executable, change=f"sys.version_info = (3, {minor}, 1)"
    )
    # Of the rest of what a Python is asked, the usual one stands in for it.
    asked = 'case "$2" in *Py_GIL_DISABLED*) ;; *) exec "$PWD/python" "$@" ;; esac'
    first.write_text(fits.replace("exec", f"{asked}\nexec", 1))
    first.chmod(0o755)
    ended = run(project, PYTHON=f"{first} {project / 'missing'}")
    assert ended.returncode == 0, ended.stderr
