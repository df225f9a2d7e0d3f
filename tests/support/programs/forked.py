"""Python programs as processes of their own, with their libraries imported beforehand.

Half of what a process costs to start is importing libraries. A process that has done so
is forked for each program; the program itself reads its environment and arguments, sets
Django up and runs as it does from a shell. What a start from nothing does is told by
tests/docs/test_readme.py.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import resource
import runpy
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import TemporaryFile
from typing import IO

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.support.programs.preloaded"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run: a script or a module, its arguments, and what it finds around it. The
    script `first` is run before it, in the same process."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    module: str = ""
    files: int | None = None
    first: str = ""

    def run(self) -> None:
        os.environ.clear()
        os.environ.update(self.variables)
        if self.files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.files, self.files))
        sys.argv = list(self.arguments)
        sys.path[0] = str(Path.cwd())
        try:
            if self.first:
                runpy.run_path(self.first, run_name="__main__")
            if self.module:
                runpy.run_module(self.module, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(self.arguments[0], run_name="__main__")
        finally:
            # multiprocessing ends without it.
            atexit._run_exitfuncs()


class Forked:
    """As much of subprocess.Popen as tests need: the program, in its own session."""

    def __init__(self, program: Program, *, output: int, errors: int = 2) -> None:
        ends = [Connection(os.dup(end), readable=False) for end in (output, errors)]
        self._process = CONTEXT.Process(target=_become, args=(program, *ends))
        self._process.start()
        for end in ends:
            end.close()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def kill(self) -> None:
        """As hard as it gets: kill -9, for it and whatever it has started."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:  # its session has not begun
            self._process.kill()
        self.wait()


def run(program: Program, *, timeout: float) -> CompletedProcess[str]:
    """Run it to its end, as subprocess.run() does."""
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        forked = Forked(program, output=output.fileno(), errors=errors.fileno())
        try:
            code = forked.wait(timeout)
        finally:
            if forked.poll() is None:
                forked.kill()
        texts = [_read(output), _read(errors)]
    return CompletedProcess(program.arguments, code, *texts)


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def _become(program: Program, output: Connection, errors: Connection) -> None:
    os.setsid()
    os.dup2(output.fileno(), 1)
    os.dup2(errors.fileno(), 2)
    output.close()
    errors.close()
    program.run()
