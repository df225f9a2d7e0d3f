"""A program that ends while it waits: nobody is asked in vain, and nothing is lost."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from checkrail import AsyncCheckrail, Checkrail
from checkrail.people import Desk
from checkrail.testing import fake_checkrail, nobody

from tests.client.acting import count_parked
from tests.support.builders import Robot
from tests.support.live import Live
from tests.support.waiting import until

CLIENT = Path(__file__).resolve().parents[2] / "client"
# Whoever starts the suite in the background has it ignore Ctrl-C, programs included.
PROGRAM = """
import signal
from checkrail import Checkrail
signal.signal(signal.SIGINT, signal.default_int_handler)
with Checkrail().run("Asks") as run:
    print(run.id, flush=True)
    {wait}
"""


def interrupt(_review: object) -> None:
    raise KeyboardInterrupt


def test_what_the_agent_asked_itself_is_withdrawn_and_the_run_failed() -> None:
    for ask in ("ask", "request_approval"):
        with fake_checkrail(rulings=[nobody()]) as rail:
            with (
                pytest.raises(KeyboardInterrupt),
                Checkrail().run("Asks", on_wait=interrupt) as run,
            ):
                getattr(run, ask)("May I?")
            (state,) = rail.runs
            assert (state["status"], state["open_reviews"]) == ("failed", [])


async def test_on_an_event_loop_it_is_the_same() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:

        async def agent() -> None:
            async with AsyncCheckrail().run("Asks", on_wait=interrupted) as run:
                await run.ask("May I?")

        async def interrupted(_review: object) -> None:
            raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await agent()
        assert rail.runs[0]["status"] == "failed"


def test_what_a_gate_asked_stays_for_a_person(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Else an agent could end its own pause."""
    caplog.set_level(logging.WARNING)
    with fake_checkrail(decisions=["pause"], rulings=[nobody()]) as rail:
        with (
            pytest.raises(KeyboardInterrupt),
            Checkrail().run("Pauses", on_wait=interrupt) as run,
        ):
            run.step()
        assert rail.runs[0]["status"] == "paused"
        assert rail.sent("POST", "/withdraw") == []
    assert "a person is still asked" in caplog.text
    assert run.id in caplog.text


def test_a_run_that_was_taken_up_is_left_to_be_taken_up_again() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        first = Checkrail().run("Asks")
        first.close()
        with (
            pytest.raises(KeyboardInterrupt),
            Checkrail().resume(first.id, on_wait=interrupt) as run,
        ):
            run.ask("May I?")
        assert rail.runs[0]["status"] == "paused"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_a_program_is_ended_while_it_waits(
    live: Live, robo: Robot, desk: Desk, number: signal.Signals
) -> None:
    """Ctrl-C reaches the with-block. SIGTERM ends Python at once, as kill -9 does: then
    it is seen on the review that nobody waits any more."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(CLIENT),
        "CHECKRAIL_URL": live.url,
        "CHECKRAIL_KEY": robo.key,
    }
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(wait='run.ask("Which branch?")')],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    run = process.stdout.readline().strip()
    until(lambda: count_parked(run) > 0)
    (review,) = desk.reviews(run=run)
    process.send_signal(number)
    process.communicate(timeout=20)
    until(lambda: count_parked(run) == 0)
    state, found = desk.run(run).status, desk.review(review.id).state
    if number == signal.SIGINT:
        assert (state, found) == ("failed", "withdrawn")
    else:
        assert (state, found) == ("paused", "open")
