"""Calls where a server, a network or a person does the unexpected."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from checkrail import (
    Blocked,
    Checkrail,
    CheckrailError,
    Denied,
    GrantSpent,
    ProtocolError,
    StillWaiting,
    Stopped,
)
from checkrail.flows.call_results import DEPTH, LARGEST, OUTPUT_LIMIT, pack_output
from checkrail.testing import (
    abort,
    amend,
    approve,
    deny,
    fake_checkrail,
)
from checkrail.testing.rail import FakeRail


@pytest.mark.parametrize(
    "change", [{"id": "another"}, {"digest": "sha256:" + "0" * 64}]
)
def test_a_claim_that_is_about_something_else_lets_nothing_run(
    change: dict[str, Any],
) -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Odd claim")
        judged = run.judge_call("command", command="ls")
        claim = run.claim_call(judged.id, judged.digest)
        rail.trouble(
            httpx.Response(201, json=judged.raw),
            httpx.Response(200, json={**claim.raw, **change}),
        )
        with pytest.raises(ProtocolError, match="Claimed"):
            run.check_command("ls")
        run.close()


def test_an_amendment_without_its_digest_lets_nothing_run() -> None:
    with fake_checkrail(
        calls=["require-confirmation"], rulings=[amend(command="ls -l")]
    ) as rail:
        run = Checkrail().run("Odd amendment")
        judged = run.judge_call("command", command="ls")
        assert judged.review is not None
        stands = run.standing(judged.review).raw
        bare = {**stands["ruling"], "amended": {"command": "ls -l"}}
        rail.trouble(
            httpx.Response(201, json=judged.raw),
            httpx.Response(200, json={**stands, "ruling": bare}),
        )
        with pytest.raises(ProtocolError, match="does not say how"):
            run.check_command("ls")
        assert rail.sent("POST", "/claim") == []
        run.close()


def test_what_is_waited_for_is_named_by_the_call_in_one_short_line() -> None:
    asked: list[str] = []
    with fake_checkrail(
        calls=["require-confirmation"] * 4, rulings=[approve()] * 4
    ) as rail:
        run = Checkrail().run(
            "Titles", on_wait=lambda review: asked.append(review.title)
        )
        run.check_command("rm -rf\n  build")
        run.check_tool("query", {"sql": "ä"})
        run.check_edit("a.py", "x")
        run.check_command("x" * 500)
        run.disconnect()
    assert asked[:3] == ["Bash: rm -rf build", 'query: {"sql": "ä"}', "Edit: a.py"]
    assert (len(asked[3]), asked[3][-1]) == (200, "…")
    assert len(rail.sent("POST", "/claim")) == 4


def test_a_call_that_is_left_says_which_one_and_is_taken_up() -> None:
    with fake_checkrail(
        calls=["require-confirmation"], rulings=[approve("Go on.", after=60)]
    ) as rail:
        run = Checkrail().run("Left")
        with pytest.raises(StillWaiting) as left:
            run.check_command("rm -rf build", timeout=30)
        assert left.value.call_id in {call["id"] for call in list_calls(rail)}
        with pytest.raises(StillWaiting) as again:
            run.resume_call(str(left.value.call_id), timeout=5)
        assert again.value.call_id == left.value.call_id
        call = run.resume_call(str(left.value.call_id))
        assert (call.command, call.note, call.tool) == (
            "rm -rf build",
            "Go on.",
            "Bash",
        )
        assert (call.replayed, call.output, call.preview) == (False, None, None)
        assert list(call.findings) == []
        call.result()
        with pytest.raises(AttributeError, match="of kind command has no content"):
            _ = call.content
        run.disconnect()


def list_calls(rail: FakeRail) -> list[dict[str, Any]]:
    return [
        {"id": call.id}
        for run in rail.server.runs.values()
        for call in run.calls.values()
    ]


def test_a_call_that_was_claimed_is_not_asked_about_again() -> None:
    with fake_checkrail(calls=["require-confirmation"], rulings=[approve()]) as rail:
        run = Checkrail().run("Claimed")
        call = run.check_command("ls")
        asked = len(rail.sent("GET", "/decision"))
        with pytest.raises(CheckrailError):
            run.resume_call(call.id)
        assert len(rail.sent("GET", "/decision")) == asked
        run.disconnect()


def test_a_call_with_a_secret_is_not_taken_up() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Secret")
        judged = run.judge_call("command", command="echo x")
        stands = run.call_standing(judged.id).raw
        hidden = {**stands, "call": {**stands["call"], "command": "echo <secret>"}}
        rail.trouble(httpx.Response(200, json=hidden))
        with pytest.raises(CheckrailError, match="holds a secret"):
            run.resume_call(judged.id)
        assert rail.sent("POST", "/claim") == []
        run.disconnect()


def test_refusals_of_calls_name_the_ruling() -> None:
    with fake_checkrail(
        calls=["require-confirmation", "block", "require-confirmation"],
        rulings=[deny("No."), abort("Enough.")],
    ) as rail:
        run = Checkrail().run("Refused")
        with pytest.raises(Denied, match=r"No\."):
            run.check_command("rm -rf build")
        with pytest.raises(Blocked):
            run.check_command("rm -rf /")
        ended = [run.ended]
        with pytest.raises(Stopped):
            run.check_command("rm -rf build")
        assert [*ended, run.ended] == [False, True]
        assert rail.sent("POST", "/claim") == []
        run.disconnect()


def test_a_result_is_told_once_and_a_stored_one_never() -> None:
    with fake_checkrail(
        calls=[{"decision": "allow", "replayed": True, "output": 7}]
    ) as rail:
        run = Checkrail().run("Stored")
        with run.check_tool("query") as call:
            assert (call.replayed, call.output) == (True, 7)
            with pytest.raises(CheckrailError, match="nothing had to run"):
                call.result()
        assert (rail.sent("POST", "/claim"), rail.sent("POST", "/result")) == ([], [])
        with run.check_command("ls") as call:
            call.result(output=1, tokens=3, cost_usd="0.5", duration_ms=4)
        assert rail.sent("POST", "/result") == [
            {"ok": True, "output": 1, "duration_ms": 4, "tokens": 3, "cost_usd": "0.5"}
        ]
        with pytest.raises(GrantSpent):  # told in other words: the server decides
            call.result(output=2)
        assert len(rail.sent("POST", "/result")) == 2
        run.disconnect()


def test_the_duration_of_a_call_is_measured_from_its_grant() -> None:
    with fake_checkrail(
        calls=["require-confirmation"], rulings=[approve(after=90)]
    ) as rail:
        run = Checkrail().run("Duration")
        with run.check_command("ls"):
            rail.sleep(1.5)
        with pytest.raises(KeyError), run.check_command("ls"):
            fail_after(rail, 0.25)
        assert [each["duration_ms"] for each in rail.sent("POST", "/result")] == [
            1500,
            250,
        ]
        assert rail.sent("POST", "/result")[1]["ok"] is False
        run.disconnect()


def fail_after(rail: FakeRail, seconds: float) -> None:
    rail.sleep(seconds)
    raise KeyError("x")


def test_only_what_comes_back_as_it_was_is_told_as_a_result() -> None:
    deep: Any = 0
    for _ in range(DEPTH - 1):
        deep = [deep]
    same: list[Any] = [
        None,
        True,
        "ä",
        1.5,
        [1, {"a": [False]}],
        LARGEST,
        -LARGEST,
        deep,
        "x" * (OUTPUT_LIMIT - 2),
    ]
    for value in same:
        assert pack_output(value) is value
    other: list[Any] = [
        (1,),
        {1: 2},
        [{"a": (1,)}],
        {"a\0": 1},
        "a\0",
        LARGEST + 1,
        -LARGEST - 1,
        float("nan"),
        "\ud800",
        object(),
        [deep],
        "x" * (OUTPUT_LIMIT - 1),
    ]
    for value in other:
        packed = pack_output(value)
        assert list(packed) == ["$repr"], repr(value)[:40]
        assert len(packed["$repr"]) <= OUTPUT_LIMIT + 40
        packed["$repr"].encode()
        assert "\0" not in packed["$repr"]
