"""The result of a call that ran survives an outage, as steps do."""

from __future__ import annotations

import asyncio
import logging

import httpx
import pytest
from checkrail import AsyncCheckrail, Checkrail, ProtocolError, Unreachable
from checkrail.testing import fake_checkrail
from checkrail.testing.rail import FakeRail


def results(rail: FakeRail) -> list[object]:
    """What the server knows of each call: its output, or None where nothing came."""
    calls = [call for run in rail.server.runs.values() for call in run.calls.values()]
    return [
        call.result and (call.result["ok"], call.result["output"]) for call in calls
    ]


def test_leaving_the_block_keeps_the_result_and_the_next_call_sends_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with fake_checkrail() as rail, Checkrail().run("Cut off") as run:
        with run.check_command("make test"):
            rail.cut()
        assert results(rail) == [None]
        assert "result of Bash is kept" in caplog.text
        rail.mend()
        run.step()
        assert results(rail) == [(True, None)]


def test_a_result_that_was_told_is_kept_too_and_goes_out_before_the_end() -> None:
    with fake_checkrail() as rail, Checkrail().run("Cut off") as run:
        call = run.check_tool("query", {"sql": "SELECT 1"})
        rail.cut()
        with pytest.raises(Unreachable):
            call.result(output={"rows": 7})
        rail.mend()
    assert results(rail) == [(True, {"rows": 7})]
    assert rail.runs[0]["status"] == "completed"
    tries = [each for each in rail.requests if each.path.endswith("/result")]
    assert len(tries) > 2
    assert len({each.headers["idempotency-key"] for each in tries}) == 1


def test_told_again_the_kept_one_is_sent_once() -> None:
    with fake_checkrail() as rail, Checkrail().run("Cut off") as run:
        call = run.check_command("make test")
        rail.cut()
        with pytest.raises(Unreachable):
            call.result(output="214 passed")
        rail.mend()
        assert call.result(output="214 passed").ok
    assert results(rail) == [(True, "214 passed")]


def test_what_a_guarded_function_returned_is_not_lost() -> None:
    with fake_checkrail() as rail, Checkrail().run("Cut off") as run:

        @run.guard
        def count() -> int:
            rail.cut()
            return 7

        assert count() == 7
        rail.mend()
    assert results(rail) == [(True, 7)]


async def test_on_an_event_loop() -> None:
    with fake_checkrail() as rail:
        async with AsyncCheckrail().run("Cut off") as run:

            @run.guard
            async def count() -> int:
                rail.cut()
                return 7

            assert await count() == 7
            rail.mend()
    assert results(rail) == [(True, 7)]


def test_a_failure_is_kept_and_the_error_is_not_held_up() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Cut off")

        def fail() -> None:
            with run.check_command("make test"):
                rail.cut()
                raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            fail()
        assert rail.clock() < 10
        rail.mend()
        run.finish()
    assert results(rail) == [(False, "OSError: disk full")]


def test_what_could_not_be_sent_is_said_in_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with fake_checkrail() as rail:

        def work() -> None:
            with Checkrail().run("Cut off") as run:
                with run.check_command("make test"):
                    rail.cut()
                run.step(tokens=7)

        with pytest.raises(Unreachable):
            work()
    assert "1 step and the result of Bash were not sent" in caplog.text


def test_a_result_that_is_refused_later_is_no_secret() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Cut off")
        with run.check_command("make test"):
            rail.cut()
        rail.mend()
        rail.trouble(httpx.Response(422, json={"type": "/problems/invalid"}))
        with pytest.raises(Exception, match="invalid"):
            run.step()
        run.step(tokens=3)
        assert [step["tokens"] for step in rail.steps][-1] == 3
        run.close()


def test_an_answer_that_cannot_be_read_holds_nothing_up_for_long(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It may come from a proxy, so the result goes out once more, and then no more."""
    unreadable = httpx.Response(200, text="<html>")
    with fake_checkrail() as rail:
        run = Checkrail().run("Behind a proxy")
        call = run.check_command("make test")
        rail.trouble(unreadable)
        with pytest.raises(ProtocolError):
            call.result(output="214 passed")
        run.step()
        assert results(rail) == [(True, "214 passed")]

        call = run.check_command("make lint")
        rail.trouble(unreadable, unreadable)
        with pytest.raises(ProtocolError):
            call.result(output="clean")
        run.step(tokens=3)
        assert [step["tokens"] for step in rail.steps][-1] == 3
        assert "result of Bash is dropped" in caplog.text
        tries = len([each for each in rail.requests if each.path.endswith("/result")])
        run.step(tokens=4)
        run.close()
    assert tries == 4
    assert [step["tokens"] for step in rail.steps][-1] == 4


async def test_a_cancelled_result_is_not_lost() -> None:
    with fake_checkrail() as rail:
        async with AsyncCheckrail().run("Cancelled") as run:
            call = await run.check_command("make test")
            rail.cut()
            telling = asyncio.ensure_future(call.result(output="done"))
            await asyncio.sleep(0)
            telling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await telling
            rail.mend()
            await run.step()
    assert results(rail) == [(True, "done")]
