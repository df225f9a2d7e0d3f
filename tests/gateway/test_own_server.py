"""The guard knows where it is reached, in every call it judges, and stores it with the call."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from django.test.utils import override_settings

from guidance.core.policy import load_policy
from ledger.models import Run
from ledger.verification.replay import replay_run
from reviews.models import Review
from reviews.rulings.amendments import judge_amendment
from tests.gateway.calls.calls import ask, command, judge
from tests.gateway.plans.planning import bash, build_plan, build_step, submit
from tests.support.builders import start_run

pytestmark = pytest.mark.once("judges and stores calls, not SQL")

STOPPING = "fuser -k 8430/tcp"
ELSEWHERE = override_settings(SERVED_PORT=8430, PUBLIC_URL="http://127.0.0.1:8430")
PUBLIC = override_settings(PUBLIC_URL="https://agents.acme.invalid")
POSTING = "curl -X POST https://agents.acme.invalid/p/shop/whatever -d x=1"


def list_rules(answer: dict[str, Any]) -> list[str]:
    return [each["details"].get("rule") for each in answer["findings"]]


def list_stored(run: str) -> list[dict[str, Any]]:
    entries = Run.objects.get(code=run).entries.filter(type="call.judged")
    return [json.loads(entry.payload) for entry in entries.order_by("seq")]


def test_the_server_is_protected_at_its_own_port(agent: httpx.Client) -> None:
    run = start_run(agent)
    assert command(agent, run, STOPPING)["decision"] == "allow"
    with ELSEWHERE:
        told = command(agent, run, STOPPING)
        by_tool = ask(
            agent, run, kind="tool", tool="kill_port", arguments={"port": 8430}
        )
        unstored = judge(agent, "command", command=STOPPING)
    for answer in (told, by_tool, unstored):
        assert answer["decision"] == "require-confirmation"
        assert "guard-server" in list_rules(answer)


def test_it_is_protected_under_its_public_name(agent: httpx.Client) -> None:
    run = start_run(agent)
    assert "guard-ruling" not in list_rules(command(agent, run, POSTING))
    with PUBLIC:
        assert "guard-ruling" in list_rules(command(agent, run, POSTING))


def test_what_differs_is_stored_and_replays_elsewhere(agent: httpx.Client) -> None:
    run = start_run(agent)
    command(agent, run, STOPPING)
    with ELSEWHERE:
        command(agent, run, STOPPING)
        # Not its own any more.
        command(agent, run, "fuser -k 8000/tcp")
    with PUBLIC:
        command(agent, run, POSTING)

    stored = list_stored(run)
    assert [payload.get("server") for payload in stored] == [
        None,
        {"port": 8430},
        {"port": 8430},
        {"host": "agents.acme.invalid", "public_port": 443},
    ]
    assert "server" not in stored[0]
    row = Run.objects.get(code=run)
    for where in (override_settings(), ELSEWHERE, PUBLIC):
        with where:
            assert replay_run(row).difference is None


def test_a_stored_call_without_its_server_would_come_out_otherwise(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    with ELSEWHERE:
        command(agent, run, STOPPING)
    monkeypatch.setattr(
        "guidance.core.shell_commands.own_server.OwnServer.from_facts",
        classmethod(lambda cls, _: cls()),
    )
    difference = replay_run(Run.objects.get(code=run)).difference
    assert difference is not None
    assert difference.what == "decision"


def test_another_policy_is_tried_on_the_call_as_it_was_judged(
    agent: httpx.Client,
) -> None:
    """No policy lowers the rules about the guard."""
    run = start_run(agent)
    with ELSEWHERE:
        command(agent, run, STOPPING)
    lax = load_policy({"tools": {"rules": {"*": "allow"}}})
    assert replay_run(Run.objects.get(code=run), policy=lax).difference is None


def test_a_person_who_changes_a_call_is_told_of_the_port(agent: httpx.Client) -> None:
    run = start_run(agent)
    asked = command(agent, run, "rm -rf src")
    review = Review.objects.get(code=asked["review"]["id"])
    content = json.loads(review.content)
    amended = {"command": STOPPING}
    assert judge_amendment(review, content, amended).asking == ()
    with ELSEWHERE:
        (finding,) = judge_amendment(review, content, amended).asking
    assert finding.details["rule"] == "guard-server"


def test_a_plan_says_that_a_call_of_it_stops_the_server(agent: httpx.Client) -> None:
    plan = build_plan(build_step(bash(STOPPING), bash("ls")))
    with ELSEWHERE:
        content = submit(agent, start_run(agent), plan)["content"]
    stopping, listing = content["steps"][0]["calls"]
    assert (stopping["rules"], listing["rules"]) == (["guard-server"], [])
