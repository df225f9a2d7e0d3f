"""What a reviewer writes with a ruling reaches the agent's program."""

from __future__ import annotations

import pytest
from checkrail import Aborted, AsyncCheckrail, Checkrail, Denied
from checkrail.testing import (
    abort,
    amend,
    answer,
    approve,
    deny,
    fake_checkrail,
)


def test_a_step_that_was_paused_has_the_ruling() -> None:
    with (
        fake_checkrail(
            decisions=["continue", "pause"], rulings=[approve("Start with fixtures.")]
        ),
        Checkrail().run("Mend it") as run,
    ):
        assert run.step().ruling is None
        assert run.ruling is None
        decision = run.step()
        assert decision.ruling is not None
        assert (decision.decision, decision.ruling.note) == (
            "pause",
            "Start with fixtures.",
        )
        assert run.ruling == decision.ruling


def test_a_call_has_the_note_of_its_approval_or_amendment() -> None:
    with (
        fake_checkrail(
            calls=["require-confirmation", "require-confirmation", "allow"],
            rulings=[
                approve("Only this once."),
                amend(command="rm -ri build", note="Ask for each file."),
            ],
        ),
        Checkrail().run("Clean up") as run,
    ):
        notes = []
        for command in ("rm -rf build", "rm -rf build", "ls"):
            with run.check_command(command) as call:
                notes.append(call.note)
    assert notes == ["Only this once.", "Ask for each file.", ""]


def test_refusals_have_the_note() -> None:
    with fake_checkrail(rulings=[deny("Not on a Friday."), abort("Enough.")]):
        run = Checkrail().run("Deploy")
        with pytest.raises(Denied) as denied:
            run.request_approval("May I deploy?")
        assert denied.value.note == "Not on a Friday."
        with pytest.raises(Aborted) as aborted:
            run.request_approval("May I now?")
        assert aborted.value.note == "Enough."
        run.close()


def test_the_last_ruling_is_kept_where_a_call_returns_something_else() -> None:
    with (
        fake_checkrail(rulings=[answer("main", note="It is the only one.")]),
        Checkrail().run("Ask") as run,
    ):
        assert run.ask("Which branch?") == "main"
        assert run.ruling is not None
        assert run.ruling.note == "It is the only one."


def test_a_pause_that_another_call_waited_out_is_kept_as_well() -> None:
    """Steps in batches are answered late: whichever call comes next waits."""
    with (
        fake_checkrail(decisions=["pause"], rulings=[approve("Take smaller steps.")]),
        Checkrail().run("Many", batch_steps=2, batch_seconds=60) as run,
    ):
        run.step()
        run.flush()
        assert run.ruling is not None
        assert run.ruling.note == "Take smaller steps."


async def test_on_an_event_loop() -> None:
    with fake_checkrail(decisions=["pause"], rulings=[approve("Slowly.")]):
        async with AsyncCheckrail().run("Mend it") as run:
            decision = await run.step()
            assert decision.ruling is not None
            assert decision.ruling.note == "Slowly."


def test_whoever_is_waited_for_is_named_before_the_wait() -> None:
    titles: list[str] = []
    with (
        fake_checkrail(
            decisions=["pause"],
            calls=["require-confirmation"],
            rulings=[approve(), approve(), answer("main")],
        ),
        Checkrail().run("Tell", on_wait=lambda r: titles.append(r.title)) as run,
    ):
        run.step()
        run.check_command("rm -rf build").result()
        run.ask("Which branch?")
    assert titles[0]
    assert "rm -rf build" in titles[1]
    assert titles[2] == "Which branch?"
