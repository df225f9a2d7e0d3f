"""Worker and beat of one process: started again when they end, else the process ends too."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest

from config.embedded import _build_beat, _build_worker
from config.server import supervision
from config.server.supervision import Supervised
from tests.support.processes import up
from tests.support.waiting import until

pytestmark = pytest.mark.once("threads of the profile that has SQLite")


class Work:
    """Ends as often as it is told to, then goes on until it is stopped."""

    def __init__(self, endings: list[BaseException | None]) -> None:
        self.endings = endings
        self.starts = 0
        self.running = threading.Event()
        self.stopped = threading.Event()

    def start(self) -> None:
        self.starts += 1
        if self.endings:
            ending = self.endings.pop(0)
            if ending is not None:
                raise ending
            return
        self.running.set()
        self.stopped.wait()

    def stop(self) -> None:
        self.stopped.set()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "PAUSES", (0.01, 0.02, 0.04))


@pytest.mark.parametrize("ending", [OSError(22, "in sleep"), SystemExit(3), None])
def test_it_is_built_and_started_again(
    ending: BaseException | None, caplog: pytest.LogCaptureFixture
) -> None:
    work = Work([ending, ending])
    given_up: list[str] = []
    built: list[int] = []

    def build() -> Work:
        built.append(1)
        return work

    kept = Supervised("beat", build, given_up.append)
    assert work.running.wait(60)
    kept.stop(within=60)
    assert (work.starts, len(built), given_up) == (3, 3, [])
    told = "without saying why" if ending is None else type(ending).__name__
    assert f"The beat has ended ({told}" in caplog.text


def test_it_is_given_up_with_the_reason() -> None:
    work = Work([OSError(22, "in sleep")] * 9)
    given_up: list[str] = []
    done = threading.Event()

    def give_up(reason: str) -> None:
        given_up.append(reason)
        done.set()

    Supervised("worker", lambda: work, give_up)
    assert done.wait(60)
    assert work.starts == 4, "Once, and after each pause."
    (reason,) = given_up
    assert "worker" in reason
    assert "in sleep" in reason


def test_who_has_worked_for_long_has_all_its_starts_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervision, "WELL_SECONDS", -1.0)
    work = Work([None] * 9)
    given_up: list[str] = []
    kept = Supervised("beat", lambda: work, given_up.append)
    assert work.running.wait(60)
    kept.stop(within=60)
    assert (work.starts, given_up) == (10, [])


def test_what_is_stopped_while_it_pauses_is_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervision, "PAUSES", (300.0,))
    work = Work([None])
    given_up: list[str] = []
    kept = Supervised("beat", lambda: work, given_up.append)
    until(lambda: work.starts == 1)
    kept.stop(within=60)
    assert (work.starts, given_up, kept._thread.is_alive()) == (1, [], False)


def test_the_real_ones_can_be_built_twice() -> None:
    assert _build_beat() is not _build_beat()
    assert _build_worker() is not _build_worker()


FAILING = """
import celery.beat
from config.server import supervision

supervision.PAUSES = (0.05, 0.1)
failures = {failures}
tick = celery.beat.Scheduler.tick

def fail(self, *given, **named):
    global failures
    if failures:
        failures -= 1
        raise OSError(22, "Invalid argument", "sleep")
    return tick(self, *given, **named)

celery.beat.Scheduler.tick = fail
"""


def test_a_process_whose_beat_recovers_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with up(tmp_path, first=write_script(tmp_path, failures=2)) as process:

        def is_beat_ok() -> bool:
            status = httpx.get(f"{process.live.url}/status").json()
            return bool(status["parts"]["beat"]["status"] == "ok")

        until(is_beat_ok)
        process.stop()
    told = capfd.readouterr().err
    assert told.count("The beat has ended (OSError") == 2
    assert "again and again" not in told


def test_a_process_whose_beat_cannot_be_kept_up_ends_and_says_why(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with up(tmp_path, first=write_script(tmp_path, failures=99)) as process:
        until(lambda: process.code() is not None)
        assert process.code() == 70
        assert "Stopped." not in process.stop(), "Nobody has stopped it."
    told = capfd.readouterr().err
    reason = "The beat ends again and again: OSError: [Errno 22]"
    assert f"CRITICAL config.embedded {reason}" in told
    assert f"CommandError: {reason}" in told


def write_script(folder: Path, *, failures: int) -> str:
    script = folder / "first.py"
    script.write_text(FAILING.format(failures=failures))
    return str(script)
