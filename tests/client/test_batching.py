"""Steps in batches: in order, none lost; pauses and stops surface at the next call."""

from __future__ import annotations

import json
import time

import pytest
from checkrail import AsyncCheckrail, Checkrail, Stopped, Unreachable
from checkrail.people import Desk
from checkrail.testing import approve as approval
from checkrail.testing import fake_checkrail

from accounts.models import Project
from tests.client.acting import approve, somebody
from tests.support.builders import make_policy

MANY = 157


def list_reported_tokens(desk: Desk, run: str) -> list[int]:
    """What every step in the ledger says of itself, in the ledger's order."""
    entries = map(json.loads, desk.ledger(run))
    steps = [e["payload"]["report"] for e in entries if e["type"] == "step.judged"]
    assert [step["number"] for step in steps] == list(range(1, len(steps) + 1))
    return [int(step["summary"]) for step in steps]


def test_everything_arrives_in_order_over_a_pause(
    rail: Checkrail, desk: Desk, project: Project
) -> None:
    patient = {"checkpoint_interval_steps": 1000, "max_consecutive_steps": 1000}
    make_policy("patient", project=project, **{"continue": patient})
    with rail.run("Many", policy="patient", batch_steps=20, batch_seconds=0.05) as run:
        with somebody(desk, run.id, approve):
            for number in range(1, MANY + 1):
                run.step(
                    summary=str(number), uncertainty=0.95 if number == 70 else None
                )
            run.flush()
        # What needs the steps to be told first tells them first.
        run.step(summary=str(MANY + 1))
        assert run.gate_check(inline=[{"id": "own"}]).attempt == 1
        assert run.last_step == MANY + 1
        run.step(summary=str(MANY + 2))
    assert list_reported_tokens(desk, run.id) == list(range(1, MANY + 3))
    assert run.state.status == "completed"


async def test_the_same_on_an_event_loop(rail: Checkrail, desk: Desk) -> None:
    client = AsyncCheckrail(rail.connection.base, rail.connection.secret)
    async with client.run("Many", batch_steps=7, batch_seconds=0.05) as run:
        with somebody(desk, run.id, approve):
            for number in range(1, 24):
                await run.step(
                    summary=str(number), uncertainty=0.95 if number == 10 else None
                )
            await run.flush()
    assert list_reported_tokens(desk, run.id) == list(range(1, 24))


def test_a_quick_agent_that_saves_is_not_stopped_for_not_saving(
    rail: Checkrail, desk: Desk
) -> None:
    saved: list[int] = []
    with rail.run(
        "Quick",
        batch_steps=20,
        batch_seconds=0.05,
        on_checkpoint=lambda decision: saved.append(decision.step),
    ) as run:
        for number in range(1, 251):
            run.step(summary=str(number))
    assert list_reported_tokens(desk, run.id) == list(range(1, 251))
    assert run.state.status == "completed"
    assert saved


def test_a_stop_met_by_the_sender_is_raised_at_the_next_call() -> None:
    with fake_checkrail(decisions=["continue", "stop"]) as rail:
        with Checkrail().run("Ends", batch_steps=2, batch_seconds=60) as run:
            run.step(tokens=1)
            run.step(tokens=2)  # enough: the thread sends both
            wait_for(lambda: bool(run.backlog.pending))
            with pytest.raises(Stopped, match="stop"):
                run.check_command("ls")
            with pytest.raises(Stopped):
                run.step(tokens=3)
        assert rail.sent("POST", "/tool-calls") == []
        assert rail.runs[0]["status"] == "stopped"


def test_late_decisions_are_obeyed_together() -> None:
    saved: list[int] = []
    late = {"decision": "throttle", "delay_ms": 200, "checkpoint_due": True}
    with fake_checkrail(decisions=["checkpoint", late, late]) as rail:
        with Checkrail().run(
            "Late",
            batch_steps=50,
            batch_seconds=60,
            on_checkpoint=lambda decision: saved.append(decision.step),
        ) as run:
            for _ in range(3):
                run.step()
            run.flush()
        assert saved == [1]
        assert [body["step"] for body in rail.sent("POST", "/checkpoints")] == [3]
        assert rail.slept == [0.2, 0.2]


def test_a_few_steps_are_sent_after_a_while_and_the_rest_at_the_end() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Slow", batch_steps=50, batch_seconds=0.02)
        run.step(tokens=1)
        wait_for(lambda: rail.runs[0]["last_step"] == 1)
        for tokens in (2, 3):
            run.step(tokens=tokens)
        run.close()
        assert rail.runs[0]["last_step"] == 3
        assert rail.runs[0]["status"] == "running"


def test_a_bad_step_is_named_and_does_not_hold_up_the_others() -> None:
    with fake_checkrail() as rail, Checkrail().run("Odd", batch_steps=50) as run:
        with pytest.raises(TypeError):
            run.step(summary=object())  # type: ignore[arg-type]
        run.step(tokens=1)
        run.step(tokens=2)
        run.flush()
    assert [step["tokens"] for step in rail.sent("POST", "/batch")[0]["steps"]] == [
        1,
        2,
    ]


def test_an_outage_is_raised_once_and_what_was_queued_goes_out_later() -> None:
    with fake_checkrail(decisions=["continue", "pause"], rulings=[approval()]) as rail:
        with Checkrail().run("Cut off", batch_steps=50, batch_seconds=60) as run:
            run.step(tokens=1)
            rail.cut()
            with pytest.raises(Unreachable):
                run.flush()
            run.step(tokens=2)
            run.step(tokens=3)
            rail.mend()
            run.flush()
        assert rail.runs[0]["last_step"] == 3
    with pytest.raises(ValueError, match="2 to 100"), fake_checkrail():
        Checkrail().run("Too many", batch_steps=101)


def test_an_outage_that_is_over_is_not_raised_any_more() -> None:
    with fake_checkrail() as rail:
        with Checkrail().run("Cut off", batch_steps=50, batch_seconds=0.02) as run:
            rail.cut()
            run.step(tokens=1)
            wait_for(lambda: run.backlog.errors)
            rail.mend()
            wait_for(lambda: not run.backlog.steps)
            run.step(tokens=2)
        assert rail.runs[0]["last_step"] == 2


def wait_for(condition: object) -> None:
    deadline = time.monotonic() + 60
    assert callable(condition)
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
