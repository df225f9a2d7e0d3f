"""The whole suite in both profiles: SQLite alone, then PostgreSQL and Redis.

python -m tests.suite [--only sqlite|postgres] [arguments for pytest]
python -m tests.suite --quick [--room ROOM]      SQLite, no processes, no browsers
python -m tests.suite --nightly [--seed N]       all examples of all properties, fresh

What no second database can change is tested once, with SQLite: see tests/lanes.py.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lanes import QUICK, REPEATED
from tests.record import Outcomes, left_out, read_outcomes
from tests.services import services

# The first has no window to draw: its pages cost a third of what a browser's cost.
SHELL = "chromium-headless-shell"
BROWSERS = (
    *(SHELL, "chromium", "chromium-browser"),
    *("google-chrome-stable", "google-chrome"),
)
MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of our own is made in it)
MEMORY_BYTES = 2 * 1024**3
PROFILES = {"sqlite": "SQLite, one process", "postgres": "PostgreSQL and Redis"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one profile came out."""

    profile: str
    code: int
    seconds: float
    outcomes: Outcomes

    @property
    def sentence(self) -> str:
        outcome = "passed" if self.code == 0 else f"FAILED (exit {self.code})"
        return f"{PROFILES[self.profile]}: {outcome} in {self.seconds:.0f} seconds"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.suite", allow_abbrev=False)
    parser.add_argument("--only", choices=PROFILES, help="run this profile alone")
    parser.add_argument("--quick", action="store_true", help="what is quick, on SQLite")
    parser.add_argument("--room", default="", help="with --quick: this package alone")
    parser.add_argument("--nightly", action="store_true", help="all examples, fresh")
    parser.add_argument("--seed", type=int, help="with --nightly: repeat that night")
    options, pytest_arguments = parser.parse_known_args(arguments)
    # SIGTERM unwinds like Ctrl-C does, so servers and folders are cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.quick:
        profiles = ["sqlite"]
        rooms = list_tests_of_room(options.room) if options.room else []
        pytest_arguments += [f"--lane={QUICK}", *rooms]
    else:
        _ensure_browser()
        profiles = [options.only] if options.only else [*PROFILES]
    if options.nightly:
        seed = secrets.randbelow(2**32) if options.seed is None else options.seed
        os.environ["CHECKRAIL_ALL_EXAMPLES"] = "1"
        pytest_arguments += [f"--hypothesis-seed={seed}", f"--randomly-seed={seed}"]
        pytest_arguments += ["--timeout=1800"]
        print(f"suite: make nightly SEED={seed} repeats this run", flush=True)
    results = [_run(profile, pytest_arguments) for profile in profiles]
    _heading("summary")
    for sentence in left_out([result.outcomes for result in results]):
        print(f"suite: left out: {sentence}", flush=True)
    for result in results:
        print(f"suite: {result.sentence}", flush=True)
    if options.nightly:
        print(f"suite: make nightly SEED={seed} repeats this run", flush=True)
    return max(result.code for result in results)


def list_tests_of_room(room: str) -> list[str]:
    """The folder of a package's tests; if it has none, the files that import it."""
    folder = Path("tests", *room.replace("/", ".").split("."))
    if folder.is_dir():
        return [str(folder)]
    imports = re.compile(rf"^(from|import) {re.escape(room)}\b", re.MULTILINE)
    files = sorted(Path("tests").rglob("test_*.py"))
    found = [str(path) for path in files if imports.search(path.read_text())]
    return found or sys.exit(f"suite: no test is about {room}, and none imports it.")


def _run(profile: str, arguments: Sequence[str]) -> Result:
    _heading(PROFILES[profile])
    started = time.monotonic()
    # Whoever names files means those, whatever they are.
    whole = not any(map(os.path.exists, arguments))
    lane = [f"--lane={REPEATED}"] if whole and profile == "postgres" else []
    slowest = ["--durations=25", "--durations-min=1"] if whole else []
    with _environment(profile) as environment:
        outcomes = Path(environment["CHECKRAIL_DATA"], "outcomes.json")
        written = f"--outcomes={outcomes}"
        code = _pytest([*lane, *slowest, written, *arguments], environment=environment)
        return Result(
            profile=profile,
            code=code,
            seconds=time.monotonic() - started,
            outcomes=read_outcomes(outcomes),
        )


@contextmanager
def _environment(profile: str) -> Iterator[Mapping[str, str]]:
    """What the settings read: each run has a data folder and a key of its own."""
    environment = dict(os.environ)
    # Dozens of processes start: what the first has compiled, the others need not.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if environment.get("CI"):
        environment["NO_COLOR"] = "1"
    with tempfile.TemporaryDirectory(prefix="checkrail-suite-", dir=_quick()) as folder:
        environment["CHECKRAIL_DATA"] = folder
        environment["SECRET_KEY"] = secrets.token_urlsafe(48)
        if profile == "sqlite":
            environment.pop("DATABASE_URL", None)
            environment.pop("REDIS_URL", None)
            yield environment
            return
        environment["CHECKRAIL_HOSTS"] = "127.0.0.1,localhost"
        with services(data=_quick()) as urls:
            yield {**environment, **urls}


def _quick() -> Path | None:
    """Where writing through to the disk costs nothing, if there is room for it.

    The databases still ask for it at every commit, as they do for everybody.
    """
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES
    return MEMORY if roomy and os.access(MEMORY, os.W_OK) else None


def _pytest(arguments: Sequence[str], *, environment: Mapping[str, str]) -> int:
    command = [sys.executable, "-m", "pytest", *_spread(arguments), *arguments]
    with subprocess.Popen(command, env=environment) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()  # it has had the same Ctrl-C and is closing
            raise


def _spread(arguments: Sequence[str]) -> Sequence[str]:
    """Two processes, each with a database and a server of its own, unless told else."""
    if any(argument.startswith(("-n", "--numprocesses")) for argument in arguments):
        return ()
    return ("-n", "2", "--dist", "worksteal")


def _ensure_browser() -> None:
    """A Chromium the browser tests can drive, or a sentence about how to get one."""
    if shutil.which(SHELL):
        return
    some = any(shutil.which(name) for name in BROWSERS)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _install_browser(update=not some)
    elif not some:
        sys.exit(
            "suite: the browser tests need Chromium, and none is installed.\n"
            f"suite: Debian: sudo apt-get install {SHELL}. Ubuntu: the same with "
            "chromium. Elsewhere: your package manager."
        )


def _install_browser(*, update: bool) -> None:
    """The shell where there is one; where there is none, any browser will do."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if update:
        subprocess.run(["apt-get", "update"], env=quiet, check=True)
    known = subprocess.run(["apt-cache", "show", SHELL], capture_output=True)
    if known.returncode != 0 and not update:
        return
    _heading("installing Chromium for the browser tests")
    name = SHELL if known.returncode == 0 else "chromium"
    install = ["apt-get", "install", "-y", "--no-install-recommends", name]
    subprocess.run(install, env=quiet, check=update)


def _heading(text: str) -> None:
    print(f"\n===== {text} =====", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
