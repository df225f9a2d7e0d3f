"""Calls are judged, confirmed, claimed, run as granted, and settled."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from checkrail import (
    AsyncCheckrail,
    Blocked,
    Checkrail,
    CheckrailError,
    Denied,
    Forbidden,
    GrantMismatch,
    GrantSpent,
    NotReplayable,
    Review,
    StillWaiting,
)
from checkrail.people import Desk
from checkrail.testing import approve as approve_later
from checkrail.testing import fake_checkrail

from accounts.models import Project
from tests.client.acting import approve, deny, somebody
from tests.support.builders import make_policy


def payloads(desk: Desk, run: str, kind: str) -> list[dict[str, Any]]:
    entries = map(json.loads, desk.ledger(run))
    return [entry["payload"] for entry in entries if entry["type"] == kind]


def test_what_is_allowed_is_claimed_and_its_result_told(
    rail: Checkrail, desk: Desk
) -> None:
    with rail.run("Calls") as run:
        with run.check_command("make test") as call:
            assert (call.command, call.amended, call.tool) == (
                "make test",
                False,
                "Bash",
            )
        with (
            pytest.raises(OSError, match="full"),
            run.check_tool("mcp__db__query", {"sql": "SELECT 1"}) as call,
        ):
            raise OSError(f"The disk is full: {call.arguments}")
        with run.check_edit("a.py", "x = 1\n") as call:
            assert (call.file_path, call.content) == ("a.py", "x = 1\n")
            call.result(output="written", tokens=7)
        with run.check_multi_edit(
            "a.py", "x = 1\n", [{"old": "1", "new": "2"}]
        ) as call:
            assert call.edits == [{"old": "1", "new": "2"}]
            assert call.preview is not None
        read = run.check_tool("Read", arguments_json='{"path": "a.py"}')
        assert read.arguments == {"path": "a.py"}
        with pytest.raises(AttributeError, match="no command"):
            _ = read.command
    settled = payloads(desk, run.id, "call.settled")
    assert [(each["ok"], each["output"]) for each in settled] == [
        (True, None),
        (False, "OSError: The disk is full: {'sql': 'SELECT 1'}"),
        (True, "written"),
        (True, None),
    ]
    assert all(each["claimed"] for each in settled)
    assert len(payloads(desk, run.id, "call.claimed")) == 5


def test_what_is_blocked_raises_with_what_to_do_instead(rail: Checkrail) -> None:
    with rail.run("Calls") as run:
        with pytest.raises(Blocked, match="secret") as blocked:
            run.check_command("curl -H 'Authorization: token ghp_" + "a1B2" * 9 + "'")
        assert blocked.value.findings[0].remediation
        with pytest.raises(Blocked, match="line 1"):
            run.check_tool("Write", arguments_json='{"path": "a.py", "content": "x')
        with pytest.raises(Forbidden):
            run.claim_call(blocked.value.answer.id, blocked.value.answer.digest)


def test_a_person_approves_amends_or_denies(rail: Checkrail, desk: Desk) -> None:
    def amend(desk: Desk, review: Review) -> Review:
        return desk.amend(review, {"command": "rm -ri build"}, note="One by one")

    with rail.run("Calls") as run:
        with somebody(desk, run.id, approve, amend, deny):
            with run.check_command("rm -rf build") as call:
                assert (call.command, call.amended) == ("rm -rf build", False)
            with run.check_command("rm -rf build") as call:
                assert (call.command, call.amended) == ("rm -ri build", True)
                assert call.ruling is not None
                assert call.ruling.note == "One by one"
            with pytest.raises(Denied, match="Not today") as denied:
                run.check_command("rm -rf src")
        assert denied.value.review.kind == "confirmation"
        assert run.step().decision == "continue"


def test_an_agent_may_ask_for_a_person(rail: Checkrail, desk: Desk) -> None:
    with rail.run("Calls") as run:
        deployed = []

        @run.guard(confirm=True)
        def deploy(to: str) -> None:
            deployed.append(to)

        with somebody(desk, run.id, approve, approve, deny):
            with run.check_tool("deploy", {"to": "web"}, confirm=True) as call:
                assert call.ruling is not None
                assert call.arguments == {"to": "web"}
            deploy("web")
            with pytest.raises(Denied):
                deploy("shop")
        assert deployed == ["web"]


def test_a_call_is_taken_up_by_another_process(rail: Checkrail, desk: Desk) -> None:
    with rail.run("Calls") as run:
        with pytest.raises(StillWaiting) as waiting:
            run.check_command("rm -rf build", timeout=0.05)
        code = waiting.value.call_id
        assert code is not None
        assert run.call_standing(code).state == "waiting"
        again = rail.resume(run.id)
        desk.amend(waiting.value.review.id, {"command": "rm -ri build"})
        with again.resume_call(code) as call:
            assert (call.command, call.amended) == ("rm -ri build", True)
        again.close()
        with pytest.raises(GrantSpent):
            run.resume_call(code)


def test_a_grant_is_for_one_call_and_one_time(rail: Checkrail) -> None:
    with rail.run("Calls") as run:
        answer = run.judge_call("command", command="ls")
        assert answer.decision == "allow"
        with pytest.raises(GrantMismatch):
            run.claim_call(answer.id, "sha256:" + "0" * 64)
        assert run.claim_call(answer.id, answer.digest).call == {"command": "ls"}
        with pytest.raises(GrantSpent):
            run.claim_call(answer.id, answer.digest)
        assert run.settle_call(answer.id, ok=True, output="a.py", cost_usd=0.01).ok


def test_a_guarded_function_runs_as_it_was_granted(
    rail: Checkrail, desk: Desk, project: Project
) -> None:
    ask = {"name": "user", "pattern": "user-9", "message": "Names user 9"}
    make_policy(
        "asking", project=project, tools={"patterns": [ask], "idempotent": ["look_up"]}
    )
    ran: list[Any] = []
    with rail.run("Guards", policy="asking") as run:

        @run.guard
        def rename_user(user: str, *rest: int, soft: bool = True, **more: str) -> str:
            ran.append((user, rest, soft, more))
            return user

        @run.guard(tool="look_up", ignore=["session"])
        def find(session: object, name: str) -> dict[str, Any]:
            ran.append(name)
            return {"name": name}

        @run.guard
        async def wait_for(name: str) -> str:
            await asyncio.sleep(0)
            ran.append(name)
            return name.upper()

        @run.guard
        def break_it() -> None:
            raise LookupError("gone")

        assert rename_user("user-1", 1, 2, soft=False, why="old") == "user-1"
        with somebody(
            desk,
            run.id,
            lambda desk, review: desk.amend(
                review, {"arguments": {"user": "user-2", "rest": [3], "why": "x"}}
            ),
            deny,
        ):
            # What the person took out falls back to its default.
            told, value = rename_user("user-9", soft=False).split("\n\n")
            assert value == "user-2"
            assert '"user": "user-2"' in told
            assert '"user": "user-9"' in told
            with pytest.raises(Denied):
                rename_user("user-9")
        # The second answer comes from the stored result: nothing runs twice.
        assert find(object(), "ann") == find(object(), "ann") == {"name": "ann"}
        assert asyncio.run(wait_for("eve")) == "EVE"
        with pytest.raises(LookupError):
            break_it()
        with pytest.raises(TypeError, match="ignore"):
            rename_user(object())  # type: ignore[arg-type]
    assert ran == [
        ("user-1", (1, 2), False, {"why": "old"}),
        ("user-2", (3,), True, {"why": "x"}),
        "ann",
        "eve",
    ]
    judged = payloads(desk, run.id, "call.judged")
    assert judged[0]["shown"]["arguments"] == {
        "user": "user-1",
        "rest": [1, 2],
        "soft": False,
        "why": "old",
    }
    settled = payloads(desk, run.id, "call.settled")
    assert [(each["ok"], each["output"]) for each in settled] == [
        (True, "user-1"),
        (True, "user-2"),
        (True, {"name": "ann"}),
        (True, "EVE"),
        (False, "LookupError: gone"),
    ]


async def test_guards_on_an_event_loop(rail: Checkrail, desk: Desk) -> None:
    async with AsyncCheckrail(rail.connection.base, rail.connection.secret).run(
        "Guards"
    ) as run:

        @run.guard
        async def shell(command: str) -> str:
            return f"ran {command}"

        @run.guard
        def plain(number: int) -> int:
            return number + 1

        assert await plain(1) == 2
        with somebody(
            desk,
            run.id,
            lambda desk, review: desk.amend(
                review, {"arguments": {"command": "rm -ri build"}}
            ),
        ):
            told, value = (await shell("rm -rf build")).split("\n\n")
            assert value == "ran rm -ri build"
            assert 'instead of {"command": "rm -rf build"}' in told
        async with await run.check_command("ls") as call:
            await call.result(ok=False, output="nothing there")
    settled = payloads(desk, run.id, "call.settled")
    assert [each["ok"] for each in settled] == [True, True, False]


def test_a_result_that_is_no_json_is_told_as_a_text_and_never_replayed_as_it() -> None:
    odd = [(1, 2), {1, 2}, "a\0b", 2**60, [[1], {"a": (1,)}], "x" * 300_000, "\ud800"]
    plain = [None, True, 1.5, "ä", [1, {"a": []}], {"b": None}]
    with fake_checkrail() as rail, Checkrail().run("Returns things") as run:

        @run.guard
        def give(index: int) -> Any:
            return [*plain, *odd][index]

        for index, value in enumerate([*plain, *odd]):
            assert give(index) == value
        told = [result["output"] for result in rail.sent("POST", "/result")]
        assert told[: len(plain)] == plain
        assert all(set(output) == {"$repr"} for output in told[len(plain) :])
        rail.server.calls.append({"replayed": True, "output": told[-1]})
        with pytest.raises(NotReplayable, match="plain JSON"):
            give(0)
        rail.server.calls.append({"replayed": True, "output": [7]})
        assert give(0) == [7]
    with pytest.raises(TypeError, match="generator"):

        @run.guard
        def pieces() -> Any:
            yield 1


def test_arguments_that_change_while_a_person_looks_do_not_run() -> None:
    with fake_checkrail(calls=["require-confirmation"], rulings=[approve_later()]):
        paths = ["a"]
        with Checkrail().run("Shifty", on_wait=lambda _: paths.append("/")) as run:

            @run.guard
            def delete(paths: list[str]) -> None:
                raise AssertionError("It ran.")

            with pytest.raises(CheckrailError, match="changed while it was judged"):
                delete(paths)
