"""Servers that are away: how long they are waited for, and what is said of it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from checkrail import (
    Checkrail,
    Outage,
    StillWaiting,
    Unreachable,
)
from checkrail.testing import fake_checkrail, nobody
from checkrail.transport.retry import SHORTEST_PAUSE


def test_a_return_that_is_just_in_time_is_waited_for() -> None:
    with fake_checkrail() as rail:
        run = Checkrail(retry_seconds=20).run("Just in time")
        rail.trouble(httpx.Response(503, headers={"Retry-After": "20"}))
        run.step()
        assert rail.slept == [20]
        run.close()


def test_a_server_that_says_come_at_once_is_not_asked_in_a_circle() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("At once")
        rail.trouble(*[httpx.Response(503, headers={"Retry-After": "0"})] * 4)
        run.step()
        assert all(
            0.1 * 2**n <= pause <= 0.11 * 2**n for n, pause in enumerate(rail.slept)
        )
        run.close()


def test_pauses_grow_to_five_seconds_and_differ() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Cut off")
        rail.cut()
        with pytest.raises(Unreachable) as gone:
            run.step()
        long = rail.slept[7:-1]
        assert all(2.5 <= pause <= 5 for pause in long)
        assert len(set(long)) == len(long), "not all clients come back at once"
        assert isinstance(gone.value.__cause__, Exception)
        run.disconnect()


def test_an_outage_is_told_each_time_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One line when the server goes, and one when it is back, for all requests."""
    outages: list[Outage] = []
    with fake_checkrail() as rail:
        run = Checkrail(on_offline=outages.append).run("Outage")
        assert caplog.messages == []
        rail.trouble(502, httpx.ConnectError("refused"), *[503] * 7)
        run.step()
        gone, back = caplog.messages
        rail.trouble(503)
        run.check_command("ls").result()
        run.close()
    assert "does not answer (status 502)" in gone
    assert gone.endswith("the agent waits, and tries again for 10 min")
    assert back.endswith(f"answers again, after {sum(rail.slept[:9]):.0f} s")
    assert len(caplog.messages) == 4
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    assert [each.error for each in outages[:3]] == [
        "status 502",
        "refused",
        "status 503",
    ]
    assert [each.retry_in for each in outages] == rail.slept
    for number, each in enumerate(outages[:9]):
        assert each.seconds == pytest.approx(sum(rail.slept[:number]))


def test_an_outage_without_end_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with fake_checkrail() as rail:
        run = Checkrail(offline="wait").run("Outage")
        rail.trouble(*[503] * 100)
        run.step()
        run.close()
    assert "tries again until it does" in caplog.messages[0]
    assert re.search(r"after \d+ min$", caplog.messages[1])


def test_being_asked_to_slow_down_is_no_outage(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Busy")
        rail.trouble(429, 429)
        run.step()
        run.close()
    assert caplog.messages == []


def test_an_agent_bears_an_outage_of_minutes_everywhere() -> None:
    """A database that is away for minutes ends no agent's program, and doubles nothing."""
    with fake_checkrail() as rail:
        run = Checkrail().run("Long")
        answers: list[Any] = []
        actions: list[Callable[[], object]] = [
            run.step,
            lambda: answers.append(run.judge_call("command", command="ls")),
            lambda: run.claim_call(answers[0].id, answers[0].digest),
            lambda: run.settle_call(answers[0].id, ok=True),
            run.standing,
            run.finish,
        ]
        for act in actions:
            began, asked = rail.clock(), len(rail.requests)
            rail.trouble(*[503] * 110)
            act()
            assert rail.clock() - began > 120
            tries = rail.requests[asked:]
            assert len(tries) == 111
            assert len({each.headers.get("idempotency-key") for each in tries}) == 1
    assert rail.runs[0]["status"] == "completed"
    assert [step["number"] for step in rail.steps] == [1]


def test_an_agents_own_error_is_held_up_for_five_seconds_at_most() -> None:
    for retry_seconds, most in ((60.0, 5.0), (1.0, 1.0)):
        with fake_checkrail() as rail:
            run = Checkrail(retry_seconds=retry_seconds).run("Fails")
            rail.cut()
            with pytest.raises(ZeroDivisionError), run:
                raise ZeroDivisionError
            assert rail.clock() == pytest.approx(most, abs=SHORTEST_PAUSE)


def test_waiting_for_a_person_lasts_as_long_as_was_chosen() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        run = Checkrail(offline_seconds=30).run("Chosen")
        review = run.open_review("request", "May I?")
        rail.cut()
        with pytest.raises(Unreachable):
            run.wait(review)
        assert rail.clock() == pytest.approx(30, abs=SHORTEST_PAUSE)
        run.disconnect()


def test_a_server_that_shuts_down_is_not_asked_in_a_circle() -> None:
    """It answers `open` at once."""
    with fake_checkrail(rulings=[nobody()]) as rail:
        run = Checkrail().run("Circle")
        review = run.open_review("request", "May I?")
        stands = run.standing(review).raw
        rail.trouble(*[httpx.Response(200, json=stands)] * 3)
        slept = len(rail.slept)
        asked = len(rail.requests)
        rail.trouble(*[httpx.ConnectError("gone")] * 1000)
        with pytest.raises(Unreachable):
            run.wait(review)
        assert rail.slept[slept : slept + 3] == [0.2] * 3
        assert [each.body["wait"] for each in rail.requests[asked : asked + 4]] == [
            "25"
        ] * 4
        run.disconnect()


def test_what_is_left_of_a_wait_is_asked_for_in_whole_seconds_and_then_slept() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        run = Checkrail().run("Short")
        review = run.open_review("request", "May I?")
        asked = len(rail.requests)
        with pytest.raises(StillWaiting):
            run.wait(review, timeout=30.5)
        assert [each.body["wait"] for each in rail.requests[asked:]][:2] == ["25", "5"]
        assert rail.clock() == pytest.approx(30.5)
        run.disconnect()
