"""A forked program is a process like any other: its own environment, limits and end."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.programs.forked import Program, run
from tests.support.waiting import until

pytestmark = pytest.mark.once("processes, without a database")
SCRIPT = """
import atexit, os, resource, sys
from django.conf import settings
atexit.register(print, "bye")
print(sys.argv[1:], dict(os.environ), settings.configured, os.getsid(0) == os.getpid())
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
print("oh", file=sys.stderr)
sys.exit(3)
"""


def run_script(folder: Path, text: str, *, timeout: float = 30) -> list[str]:
    script = folder / "script.py"
    script.write_text(text)
    ended = run(
        Program(
            arguments=(str(script), "--fast"), variables={"COLOUR": "red"}, files=300
        ),
        timeout=timeout,
    )
    return [str(ended.returncode), *ended.stdout.splitlines(), ended.stderr]


def test_it_has_what_it_was_given_and_tells_how_it_ended(tmp_path: Path) -> None:
    code, around, files, last, errors = run_script(tmp_path, SCRIPT)
    assert around == "['--fast'] {'COLOUR': 'red'} False True"
    assert (code, files, last, errors) == ("3", "300", "bye", "oh\n")


def test_an_exception_ends_it_with_a_traceback(tmp_path: Path) -> None:
    code, errors = run_script(tmp_path, "raise RuntimeError('too hot')")
    assert code == "1"
    assert "RuntimeError: too hot" in errors


def test_who_takes_too_long_is_killed_with_what_it_has_started(tmp_path: Path) -> None:
    note = tmp_path / "child"
    script = f"""
import subprocess, time
child = subprocess.Popen(["sleep", "60"])
with open({str(note)!r}, "w") as file: file.write(str(child.pid))
time.sleep(60)
"""
    with pytest.raises(subprocess.TimeoutExpired):
        run_script(tmp_path, script, timeout=6)
    child = int(note.read_text())
    until(lambda: not Path(f"/proc/{child}").exists() or is_dead(child))


def is_dead(process: int) -> bool:
    """Killed, and not yet taken note of."""
    return ") Z " in Path(f"/proc/{process}/stat").read_text()
