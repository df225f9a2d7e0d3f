"""Pytest in both profiles: each is a process, with services and a folder of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.runner.lanes import REPEATED
from tests.runner.record import Outcomes, read_outcomes
from tests.runner.services import services

MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of our own is made in it)
MEMORY_BYTES = 2 * 1024**3
PROFILES = {"sqlite": "SQLite, one process", "postgres": "PostgreSQL and Redis"}
# Both profiles share the cores, and many tests wait for servers and browsers: more
# processes than a small machine has cores keep it busy.
PROCESSES = {"sqlite": 4, "postgres": 2}
POLL_SECONDS = 0.1
# So few failed tests are tried so often again, with nothing beside them.
UNSTEADY_LIMIT, ALONE_TIMES = 4, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one profile came out."""

    profile: str
    code: int
    seconds: float
    outcomes: Outcomes
    # Failed beside other tests, and passed alone each time.
    unsteady: Sequence[str] = ()

    @property
    def sentence(self) -> str:
        outcome = "passed" if self.code == 0 else f"FAILED (exit {self.code})"
        return f"{PROFILES[self.profile]}: {outcome} in {self.seconds:.0f} seconds"


class Run:
    """Pytest at work in one profile."""

    def __init__(
        self,
        profile: str,
        process: subprocess.Popen[bytes],
        *,
        environment: Mapping[str, str],
        arguments: Sequence[str],
    ) -> None:
        self.profile = profile
        self.process = process
        self._environment = environment
        self._seeds = [each for each in arguments if "-seed=" in each]
        self._folder = Path(environment["CHECKRAIL_DATA"])
        self._started = time.monotonic()
        self._seconds: float | None = None

    def has_ended(self) -> bool:
        if self._seconds is None and self.process.poll() is not None:
            self._seconds = time.monotonic() - self._started
        return self._seconds is not None

    def print_heading(self) -> None:
        print(f"\n===== {PROFILES[self.profile]} =====", flush=True)

    def print_output(self) -> None:
        """What it would have printed, had it been the only one."""
        self.print_heading()
        sys.stdout.write(_output(self._folder).read_text(errors="replace"))
        sys.stdout.flush()

    def get_result(self) -> Result:
        assert self._seconds is not None
        return Result(
            profile=self.profile,
            code=self.process.returncode,
            seconds=self._seconds,
            outcomes=read_outcomes(_outcomes(self._folder)),
        )

    def try_alone(self, result: Result) -> Result:
        """Its few failed tests again: who passes each time was disturbed (ADR 52)."""
        failed = result.outcomes.failed
        if result.code != pytest.ExitCode.TESTS_FAILED or not failed:
            return result
        if len(failed) > UNSTEADY_LIMIT:
            return result
        command = [sys.executable, "-m", "pytest", *self._seeds, *failed]
        for number in range(1, ALONE_TIMES + 1):
            print(f"\n===== alone, {number} of {ALONE_TIMES} =====", flush=True)
            if subprocess.run(command, env=self._environment, check=False).returncode:
                return result
        return replace(result, code=0, unsteady=failed)


def run_profiles(
    profiles: Sequence[str], arguments: Sequence[str], *, strict: bool = True
) -> list[Result]:
    """At the same time: the first prints as it goes, the second when both have ended.

    Where it is not strict, a few tests that failed are tried again alone.
    """
    first, *others = profiles
    with ExitStack() as stack:
        shown = stack.enter_context(_start(first, arguments, prints=True))
        hidden = [stack.enter_context(_start(each, arguments)) for each in others]
        runs = [shown, *hidden]
        while [run for run in runs if not run.has_ended()]:
            time.sleep(POLL_SECONDS)
        for run in hidden:
            run.print_output()
        results = [(run, run.get_result()) for run in runs]
        if strict:
            return [result for _, result in results]
        return [run.try_alone(result) for run, result in results]


@contextmanager
def _start(
    profile: str, arguments: Sequence[str], *, prints: bool = False
) -> Iterator[Run]:
    # Whoever names files means those, whatever they are.
    whole = not any(map(os.path.exists, arguments))
    lane = [f"--lane={REPEATED}"] if whole and profile == "postgres" else []
    slowest = ["--durations=25", "--durations-min=1"] if whole else []
    with prepare_environment(profile) as environment, ExitStack() as stack:
        folder = Path(environment["CHECKRAIL_DATA"])
        command = [sys.executable, "-m", "pytest", *_spread(profile, arguments)]
        command += [*lane, *slowest, f"--outcomes={_outcomes(folder)}", *arguments]
        output = None if prints else stack.enter_context(_output(folder).open("wb"))
        process = subprocess.Popen(command, env=environment, stdout=output)
        run = Run(profile, process, environment=environment, arguments=arguments)
        if prints:
            run.print_heading()
        try:
            yield run
        except KeyboardInterrupt:
            process.wait()  # it has had the same Ctrl-C and is closing
            raise
        finally:
            process.terminate()
            process.wait()


def _spread(profile: str, arguments: Sequence[str]) -> Sequence[str]:
    """So many processes, unless somebody says how many."""
    if any(argument.startswith(("-n", "--numprocesses")) for argument in arguments):
        return ()
    return ("-n", str(PROCESSES[profile]), "--dist", "worksteal")


def _outcomes(folder: Path) -> Path:
    return folder / "outcomes.json"


def _output(folder: Path) -> Path:
    return folder / "output.txt"


@contextmanager
def prepare_environment(profile: str) -> Iterator[Mapping[str, str]]:
    """What the settings read: each run has a data folder and a key of its own."""
    environment = dict(os.environ)
    # Dozens of processes start: what the first has compiled, the others need not.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if environment.get("CI"):
        environment["NO_COLOR"] = "1"
    with tempfile.TemporaryDirectory(
        prefix="checkrail-suite-", dir=get_quick()
    ) as folder:
        environment["CHECKRAIL_DATA"] = folder
        environment["SECRET_KEY"] = secrets.token_urlsafe(48)
        if profile == "sqlite":
            environment.pop("DATABASE_URL", None)
            environment.pop("REDIS_URL", None)
            yield environment
            return
        environment["CHECKRAIL_HOSTS"] = "127.0.0.1,localhost"
        with services(data=get_quick()) as urls:
            yield {**environment, **urls}


def get_quick() -> Path | None:
    """Where writing through to the disk costs nothing, if there is room for it.

    The databases still ask for it at every commit, as they do for everybody.
    """
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES
    return MEMORY if roomy and os.access(MEMORY, os.W_OK) else None
