"""The fake server halts as the real one does: for tests of one's own agent."""

from __future__ import annotations

import pytest
from checkrail import AsyncCheckrail, Checkrail, Halted
from checkrail.testing import FakeRail, approve, fake_checkrail


def test_it_is_waited_for_and_the_agent_goes_on() -> None:
    with fake_checkrail() as rail, Checkrail().run("Mend it") as run:
        rail.halt("Look at it", released_after=60)
        assert run.step().decision == "continue"
        assert rail.clock() >= 60
        rail.halt("Again", released_after=30)
        with run.check_command("ls"):
            pass
        assert rail.clock() >= 90
    assert rail.runs[0]["status"] == "completed"


def test_patience_ends_with_who_and_why() -> None:
    with fake_checkrail() as rail, Checkrail().run("Mend it") as run:
        made = rail.halt("Look at it", by="bob")
        with pytest.raises(Halted) as told:
            run.step(timeout=5)
        assert (told.value.by, told.value.reason) == ("bob", "Look at it")
        assert told.value.halt_id == made
        rail.release()
        run.step()


def test_a_granted_call_waits_too_and_what_is_done_is_told() -> None:
    with fake_checkrail() as rail, Checkrail().run("Mend it") as run:
        with run.check_command("ls") as call:
            rail.halt("Look at it")
            call.result(output="done")
        run.finish()
    assert rail.runs[0]["status"] == "completed"


def test_a_new_run_is_tried_again() -> None:
    with fake_checkrail() as rail:
        rail.halt("Look at it", released_after=20)
        with Checkrail().run("Mend it"):
            pass
        assert len(rail.sent("POST", "/runs")) > 1


async def test_who_waits_for_a_person_waits_for_the_release() -> None:
    rulings = [approve("Go on", after=10)]
    with fake_checkrail(decisions=["pause"], rulings=rulings) as rail:
        async with AsyncCheckrail().run("Mend it") as run:
            rail.halt("Look at it", released_after=60)
            await run.step()
            assert (await run.step()).decision == "continue"
    assert rail.clock() >= 60


def wait_for_ever(rail: FakeRail) -> None:
    with Checkrail().run("Mend it") as run:
        rail.halt("Look at it")
        run.step()


def test_a_halt_that_nobody_releases_fails_the_test() -> None:
    with fake_checkrail() as rail, pytest.raises(AssertionError, match="releases"):
        wait_for_ever(rail)
