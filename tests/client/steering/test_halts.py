"""A halted agent waits for the release, and goes on."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Event

import httpx
import pytest
from checkrail import Checkrail, Halted

from ledger.models import Run
from ledger.waiting.hub import count_waiting
from tests.reviews.halts.halting import halt, release
from tests.support.builders import Robot
from tests.support.live import Live
from tests.support.threads import Threads
from tests.support.waiting import until


def test_steps_and_calls_wait_for_the_release(
    rail: Checkrail, manager: httpx.Client
) -> None:
    run = rail.run("Halted")
    made = halt(manager, reason="Look at it")
    run_id = Run.objects.values_list("pk", flat=True).get(code=run.id)
    with Threads(1) as pool:
        step = pool.submit(run.step)
        until(lambda: count_waiting(run_id) > 0)
        assert not step.done()
        release(manager, made)
        assert step.result(timeout=60).decision == "continue"
    again = halt(manager)
    with Threads(1) as pool:
        call = pool.submit(run.check_command, "ls")
        until(lambda: count_waiting(run_id) > 0)
        release(manager, again)
        assert call.result(timeout=60).id
    run.finish()


def test_patience_ends_with_the_halt(rail: Checkrail, manager: httpx.Client) -> None:
    run = rail.run("Halted")
    made = halt(manager, reason="Look at it")
    with pytest.raises(Halted) as told:
        run.step(timeout=0.2)
    assert (told.value.reason, told.value.halt_id) == ("Look at it", made["id"])
    assert told.value.by == made["by"]
    release(manager, made)
    run.step()
    run.finish()


def test_a_new_run_is_tried_again(
    live: Live, robo: Robot, manager: httpx.Client
) -> None:
    made = halt(manager)
    hasty = Checkrail(live.url, robo.key, offline="wait", offline_seconds=1)
    with hasty, pytest.raises(Halted):
        hasty.run("Halted")
    tried = Event()

    def begin() -> str:
        with Checkrail(live.url, robo.key) as patient:
            tried.set()
            with patient.run("Later") as run:
                return run.id

    with Threads(1) as pool:
        started: Future[str] = pool.submit(begin)
        assert tried.wait(timeout=60)
        release(manager, made)
        assert started.result(timeout=60)
