"""What people tell a running agent reaches its loop: each note once, in order."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from checkrail import AsyncCheckrail, Blocked, Checkrail, Note
from checkrail.testing import approve, fake_checkrail


def words(notes: list[Note]) -> list[str]:
    return [note.text for note in notes]


def test_a_step_a_call_and_a_wait_bring_them() -> None:
    with (
        fake_checkrail(
            decisions=["continue", "pause", "continue"],
            calls=["allow", "block"],
            rulings=[approve()],
        ) as rail,
        Checkrail().run("Mend it") as run,
    ):
        assert run.take_notes() == []
        rail.tell("Only the tests", tags=["scope"])
        (note,) = run.step().notes
        assert (note.by, note.tags) == ("alice", ("scope",))
        assert words(run.take_notes()) == ["Only the tests"]
        rail.tell("Use make")
        with run.check_command("ls"):
            pass
        rail.tell("Not that")
        with pytest.raises(Blocked):
            run.check_command("rm -rf /")
        assert words(run.take_notes()) == ["Use make", "Not that"]
        run.step()
        rail.tell("Between")
        run.step()
        assert words(run.take_notes()) == ["Between"]
        assert {note.state for note in run.list_notes()} == {"read", "delivered"}
        assert run.take_notes() == []


@pytest.mark.parametrize("trouble", [503, httpx.ReadTimeout("lost")])
def test_an_answer_that_was_lost_brings_them_once(trouble: Any) -> None:
    with fake_checkrail() as rail, Checkrail().run("Mend it") as run:
        rail.tell("one")
        rail.trouble(trouble)
        run.step()
        rail.tell("two")
        rail.trouble(trouble)
        with run.check_command("ls"):
            pass
        assert words(run.take_notes()) == ["one", "two"]


def test_a_queue_of_steps_brings_them() -> None:
    with (
        fake_checkrail() as rail,
        Checkrail().run("Mend it", batch_steps=3, batch_seconds=60) as run,
    ):
        rail.tell("hello")
        run.step()
        run.step()
        run.flush()
        assert words(run.take_notes()) == ["hello"]


def test_a_run_that_is_resumed_hears_what_its_process_died_with() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Mend it")
        rail.tell("read long ago")
        run.step()
        run.step()
        rail.tell("lost with the process")
        run.step()
        run.close()
        rail.tell("new")
        with Checkrail().resume(run.id) as again:
            assert words(again.take_notes()) == ["lost with the process"]
            again.step()
            assert words(again.take_notes()) == ["new"]


async def test_the_asynchronous_run_has_them_and_acknowledges() -> None:
    with fake_checkrail() as rail:
        async with AsyncCheckrail().run("Mend it") as run:
            waiting = rail.tell("found in the list")
            read = await run.acknowledge_note(waiting)
            assert (read.state, read.delivered_with) == ("read", "acknowledgement")
            rail.tell("hello")
            await run.step()
            (note,) = await run.take_notes()
            assert (await run.acknowledge_note(note)).state == "read"
