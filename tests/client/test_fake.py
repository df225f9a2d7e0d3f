"""The fake for users' tests answers in the very shapes of the real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from checkrail import Blocked, Checkrail, Denied, Problem
from checkrail.people import Desk
from checkrail.testing import amend, approve, deny, fake_checkrail, nobody

from accounts.models import Project
from tests.support.builders import Robot, make_policy
from tests.support.document import check_answer
from tests.support.live import Live

Recorded = dict[str, Any]


class Recording(httpx.BaseTransport):
    """Keeps the shape of the last answer of each kind at each door."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self.inner = inner
        self.shapes: Recorded = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self.inner.handle_request(request)
        response.read()
        response.request = request
        check_answer(response)
        parts = request.url.path.removeprefix("/api/v1/").split("/")
        door = "/".join("*" if len(part) == 36 else part for part in parts)
        body = json.loads(response.content)
        kind = body.get("type") or body.get("decision") or body.get("outcome") or ""
        name = f"{request.method} {door} {response.status_code} {kind}"
        self.shapes[name] = shape(body)
        return response


def shape(value: Any) -> Any:
    """Which fields there are, and of which kind; not what stands in them."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items() if name not in LOOSE}
    return type(value).__name__ if isinstance(value, (bool, str)) else "other"


# What differs with the policy and the gates that speak, not with the contract.
LOOSE = {
    *("content", "findings", "labels", "call", "amended", "metrics", "evaluations"),
    "accepted",
    *("errors", "accepted_forms", "preview", "output", "budget", "step", "ok"),
    *("status_reason", "due_at", "previous_feedback", "guidance", "rulings"),
}


def walk(rail: Checkrail, policy: str, rule: Callable[[str], object]) -> None:
    """Through every door of an agent, in the same way on both."""
    run = rail.run("Walk", policy=policy, labels={"a": "b"})
    run.step(tokens=1)
    run.checkpoint({"a": 1})
    run.latest_checkpoint()
    run.standing()
    with run.check_command("ls"):
        pass
    answer = run.judge_call("command", command="rm -rf build")
    refuses(run.claim_call, answer.id, answer.digest)
    assert answer.review is not None
    run.standing(answer.review)
    refuses(run.report_step)
    rule(answer.review.id)
    with run.resume_call(answer.id) as call:
        assert call.amended
    run.call_standing(answer.id)
    refuses(run.claim_call, answer.id, "sha256:" + "0" * 64)
    check = run.gate_check(["own"])
    assert check.verdict("FAIL", "no").outcome == "retry"
    assert check.text("GATE_REVIEW: PASS - yes").passed
    refuses(check.verdict, "PASS", "again")
    run.turn(content="All done.")
    asked = run.open_review("request", "May I?")
    refuses(run.report_step)
    run.withdraw(asked)
    refuses(run.withdraw, asked)
    again = run.open_review("request", "May I?")
    rule(again.id)
    assert run.wait(again).action == "deny"
    run.refresh()
    run.record_violation("no-prints", "low", auto_corrected=True)
    run.finish(summary="Walked")
    refuses(run.report_step)
    run.close()
    for look in (
        lambda: rail.evaluate_command("ls"),
        lambda: rail.evaluate_tool("Read", {}),
        lambda: rail.evaluate_edit("a", "b"),
        lambda: rail.evaluate_multi_edit("a", "b", [{"old": "b", "new": "c"}]),
        lambda: rail.evaluate_turn(content="All done."),
        lambda: rail.evaluate_verdict("GATE_REVIEW: FAIL - no"),
        lambda: rail.evaluate_continue(step_number=1),
    ):
        look()


def refuses(act: Any, *args: Any) -> None:
    with pytest.raises(Problem):
        act(*args)


def test_a_wish_for_a_person_is_answered_as_by_the_server() -> None:
    with (
        fake_checkrail(calls=["allow", "block"], rulings=[deny("No"), deny("No")]),
        Checkrail().run("Wishes") as run,
    ):
        with pytest.raises(Denied):
            run.check_tool("deploy", {}, confirm=True)
        with pytest.raises(Blocked):
            run.check_tool("deploy", {}, confirm=True)
        answer = run.judge_call("command", command="ls", confirm=True)
        assert answer.decision == "require-confirmation"


def test_a_plan_is_ruled_on_as_the_script_says() -> None:
    kept = [{"purpose": "b", "calls": [{"tool": "Bash", "command": "ls"}]}]
    with (
        fake_checkrail(rulings=[amend(steps=kept), approve(), deny("No")]),
        Checkrail().run("Plans") as run,
    ):
        amended = run.submit_plan("Plan", steps=[*kept, *kept]).amended
        assert amended == {"title": "Plan", "steps": kept}
        assert run.submit_plan("Plan", steps=kept).amended is None
        with pytest.raises(Denied):
            run.submit_plan("Plan", steps=kept, limits={"tool_calls": 1})


def test_every_door_answers_in_the_shape_of_the_real_one(
    live: Live, robo: Robot, desk: Desk, project: Project
) -> None:
    gates = {"own": {"severity": "critical", "criteria": ["It is good"]}}
    make_policy("walk", project=project, gates=gates)

    def rule(review: str) -> None:
        if desk.review(review).kind == "confirmation":
            desk.amend(review, {"command": "rm -ri build"})
        else:
            desk.deny(review)

    with httpx.HTTPTransport() as wire:
        real = Recording(wire)
        walk(Checkrail(live.url, robo.key, transport=real), "walk", rule)
    with fake_checkrail(
        calls=["allow", "require-confirmation"],
        rulings=[amend(command="rm -ri build", after=1), nobody(), deny()],
    ) as rail:
        fake = Recording(rail.transport)
        own = Checkrail("http://checkrail.test", "crk_x", transport=fake)
        walk(own, "walk", lambda review: None)
    assert set(fake.shapes) == set(real.shapes)
    for door, told in real.shapes.items():
        assert fake.shapes[door] == told, door


def test_a_person_nobody_scripted_fails_the_test() -> None:
    with fake_checkrail(decisions=["pause"]):
        run = Checkrail().run("Asks")
        with pytest.raises(AssertionError, match="no ruling is left"):
            run.step()
        run.close()
    with fake_checkrail(rulings=[approve()]):
        run = Checkrail().run("Asks")
        with pytest.raises(AssertionError, match="takes abort, answer"):
            run.ask("Which?")
        run.close()
    with fake_checkrail(rulings=[nobody()]):
        run = Checkrail().run("Asks")
        with pytest.raises(AssertionError, match="without timeout"):
            run.ask("Which?")
        run.close()


def test_what_people_say_late_takes_no_time() -> None:
    with fake_checkrail(decisions=["pause"], rulings=[approve(after=180)]) as rail:
        with Checkrail().run("Waits three minutes") as run:
            assert run.step(tokens=1830).decision == "pause"
        assert 180 <= rail.clock() < 181
        assert rail.steps == [{"number": 1, "tokens": 1830, "tool_calls": 0}]
        assert rail.runs[0]["status"] == "completed"
