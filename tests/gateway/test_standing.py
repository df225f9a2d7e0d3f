"""Where a call stands, beside other calls, runs and agents, and at the ends of its time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from common.errors import Invalid
from gateway.use_cases.answers.calls import build_title
from gateway.use_cases.decision_wait import wait_seconds
from gateway.use_cases.steps import TOTAL_MAX, refuse_uncountable
from guidance.core.runs.usage import Usage
from reviews.models import Grant, ToolCall
from tests.conftest import client_for
from tests.gateway.calls.calls import claim, command, rule, settle, slug, tool
from tests.gateway.checks.saying import exhaust, open_check
from tests.support.builders import (
    make_policy,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import rule as rule_on

BLOCKED = "export TOKEN=" + "gh" + "p_" + "a1B2" * 9


@pytest.fixture
def neighbour(live: Live, project: Project) -> Iterator[httpx.Client]:
    """Another agent of the same project."""
    with client_for(live, make_robot("robo-2", project=project)) as client:
        yield client


def stand(agent: httpx.Client, run: str, call: dict[str, Any]) -> dict[str, Any]:
    answer = agent.get(f"/runs/{run}/tool-calls/{call['id']}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_call_is_waiting_refused_granted_claimed_or_settled(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    harmless = command(agent, run, "ls -la")
    assert stand(agent, run, harmless) == {
        "id": harmless["id"],
        "run": run,
        "kind": "command",
        "tool": "Bash",
        "decision": "allow",
        "state": "granted",
        "digest": harmless["digest"],
        "call": {"command": "ls -la"},
        "review": None,
        "grant": harmless["grant"],
        "grant_expires_at": harmless["grant_expires_at"],
        "ok": None,
    }
    claim(agent, run, harmless)
    assert stand(agent, run, harmless)["state"] == "claimed"
    settle(agent, run, harmless, ok=False)
    settled = stand(agent, run, harmless)
    assert (settled["state"], settled["ok"]) == ("settled", False)

    blocked = stand(agent, run, command(agent, run, BLOCKED))
    assert (blocked["state"], blocked["decision"]) == ("refused", "block")
    assert (blocked["grant"], blocked["grant_expires_at"]) == (None, None)
    denied = command(agent, run)
    waiting = stand(agent, run, denied)
    assert (waiting["state"], waiting["grant"]) == ("waiting", None)
    assert waiting["review"] == denied["review"]["id"]
    rule(reviewer, denied, "deny")
    assert stand(agent, run, denied)["state"] == "refused"

    amended = command(agent, run)
    rule(reviewer, amended, "amend", amended={"command": "make clean"})
    found = stand(agent, run, amended)
    assert (found["state"], found["call"]) == ("granted", {"command": "make clean"})
    assert found["digest"] != amended["digest"]
    assert claim(agent, run, amended, found["digest"]).status_code == 200
    row = ToolCall.objects.get(code=harmless["id"])
    assert (row.kind, row.tool) == ("command", "Bash")


def test_nobody_else_finds_claims_or_settles_a_call(
    agent: httpx.Client, neighbour: httpx.Client
) -> None:
    run, other = start_run(agent), start_run(agent)
    call = command(agent, run, "ls")
    for client, of in (
        (neighbour, run),
        (agent, other),
        (agent, "x"),
        (agent, call["id"]),
    ):
        path = f"/runs/{of}/tool-calls/{call['id']}"
        assert client.get(path).status_code == 404
        assert claim(client, of, call).status_code == 404
        assert settle(client, of, call).status_code == 404
        assert client.get(f"/runs/{of}/tool-calls/x").status_code == 404
    unknown = {**call, "id": str(uuid4())}
    assert claim(agent, run, unknown).status_code == 404
    # Whose run it is was remembered with the policy, for its own agent alone.
    body = {"kind": "command", "tool": "Bash", "command": "ls"}
    for of in (run, "x", str(uuid4())):
        asked = neighbour.post(f"/runs/{of}/tool-calls", json=body)
        assert asked.status_code == 404
    assert stand(agent, run, call)["state"] == "granted"


def test_too_late_is_too_late_for_ever(agent: httpx.Client) -> None:
    run = start_run(agent)
    claimed, settled, looked_at = (command(agent, run, f"ls {n}") for n in range(3))
    rows = Grant.objects.filter(run__code=run)
    rows.update(expires_at=timezone.now())
    assert stand(agent, run, looked_at)["state"] == "expired"
    for act, call in ((claim, claimed), (settle, settled)):
        late = act(agent, run, call)
        assert (late.status_code, slug(late)) == (410, "grant-expired")
    # Also when the clock is set back.
    rows.update(expires_at=timezone.now() + timedelta(hours=1))
    for act in (claim, settle):
        for call in (claimed, settled):
            late = act(agent, run, call)
            assert (late.status_code, slug(late)) == (410, "grant-expired")
    assert stand(agent, run, claimed)["state"] == "expired"
    assert stand(agent, run, looked_at)["state"] == "granted"


def test_what_a_stop_took_back_says_so(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))
    manager.post(f"/runs/{run}/reopen", json={"reason": "look again"})
    assert stand(agent, run, call)["state"] == "revoked"
    told = settle(agent, run, call)
    assert (told.status_code, slug(told)) == (409, "grant-spent")
    assert "revoked" in told.json()["detail"]
    assert "revoked" in claim(agent, run, call).json()["detail"]


def test_a_claim_waits_beside_a_pause(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    review = pause_at_once(agent, run)
    held = claim(agent, run, call)
    assert (held.status_code, slug(held)) == (409, "run-paused")
    assert held.json()["review"]["id"] == review
    assert stand(agent, run, call)["state"] == "granted"


def test_a_result_told_again_has_its_own_receipt(agent: httpx.Client) -> None:
    run = start_run(agent)
    calls = [command(agent, run, f"ls {n}") for n in range(3)]
    told = [settle(agent, run, call, output=1).json() for call in calls]
    assert len({each["receipt"]["seq"] for each in told}) == 3
    for call, first in zip(calls, told, strict=True):
        again = settle(agent, run, call, output=1)
        assert again.status_code == 200
        assert again.json()["receipt"] == first["receipt"]
        assert again.headers["Idempotency-Replayed"] == "true"
    other = settle(agent, run, calls[0], output=2)
    assert (other.status_code, slug(other)) == (409, "grant-spent")
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    late = settle(agent, run, calls[0], output=1)
    assert late.json()["receipt"] == told[0]["receipt"], "the run has ended since"


def test_only_a_whole_success_is_kept_for_another_time(agent: httpx.Client) -> None:
    run = start_run(agent)
    kept, failed, secret = (tool(agent, run, "q", n=n) for n in range(3))
    settle(agent, run, kept, output={"rows": 1})
    settle(agent, run, failed, ok=False, output={"rows": 1})
    settle(agent, run, secret, output={"token": BLOCKED})
    outputs = ToolCall.objects.in_bulk(
        [each["id"] for each in (kept, failed, secret)], field_name="code"
    )
    found = [row.output for row in outputs.values()]
    assert sorted(found, key=str) == [None, None, '{"rows":1}']


def test_a_check_shows_who_is_asked_about_it(
    agent: httpx.Client,
    reviewer: httpx.Client,
    neighbour: httpx.Client,
    project: Project,
) -> None:
    gate = {"name": "Tests", "severity": "critical", "criteria": ["They pass"]}
    make_policy("quality", project=project, gates={"tests-pass": gate})
    run = start_run(agent, policy="quality")
    agent.post(f"/runs/{run}/steps", json=step(1))
    other = start_run(agent)
    theirs = open_check(agent, other, "code-quality")
    opened = open_check(agent, run, "tests-pass", step=1)

    def show(check: dict[str, Any], client: httpx.Client = agent, of: str = run) -> Any:
        return client.get(f"/runs/{of}/gate-checks/{check['id']}")

    assert show(opened).json()["review"] is None
    assert show(opened).json()["step"] == 1
    assert show(opened, of=other).status_code == show(theirs).status_code == 404
    assert show(opened, neighbour).status_code == 404
    verdict = {"text": "GATE_REVIEW: FAIL - x"}
    for client, of in ((agent, other), (neighbour, run)):
        path = f"/runs/{of}/gate-checks/{opened['id']}/verdicts"
        assert client.post(path, json=verdict).status_code == 404

    check, told = exhaust(agent, run, "tests-pass")
    shown = show(check).json()
    assert (shown["status"], shown["prompt"]) == ("exhausted", None)
    assert shown["review"]["id"] == told["review"]["id"]
    rule_on(reviewer, told["review"]["id"], "retry", note="Once more.")
    shown = show(check).json()
    assert (shown["status"], shown["review"]) == ("open", None)
    assert shown["guidance"] == "Once more."


def test_the_neighbours_waits_and_withdrawals_are_not_found(
    agent: httpx.Client, neighbour: httpx.Client
) -> None:
    run = start_run(agent)
    asked = agent.post(
        f"/runs/{run}/reviews", json={"kind": "question", "title": "Which?"}
    ).json()
    assert neighbour.get(f"/runs/{run}/decision").status_code == 404
    assert neighbour.post(f"/reviews/{asked['id']}/withdraw").status_code == 404
    assert agent.post("/reviews/x/withdraw").status_code == 404
    assert agent.get(f"/runs/{run}/decision").json()["state"] == "open"
    assert agent.post(f"/reviews/{asked['id']}/withdraw").status_code == 200


def test_a_parent_is_a_run_of_the_same_project(
    agent: httpx.Client, neighbour: httpx.Client, live: Live, other_agent: httpx.Client
) -> None:
    parent = start_run(neighbour)
    body = {"task": "Child", "parent_run": parent}
    assert agent.post("/runs", json=body).status_code == 201
    for wrong in (start_run(other_agent), "x", str(uuid4())):
        refused = agent.post("/runs", json={"task": "Child", "parent_run": wrong})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["loc"] == ["parent_run"]


@pytest.fixture
def other_agent(live: Live) -> Iterator[httpx.Client]:
    """An agent of another project."""
    with client_for(live, make_robot("robo", project=make_project())) as client:
        yield client


def test_a_label_that_grew_is_stored_in_part(agent: httpx.Client) -> None:
    """What stands for a secret may be longer than the secret was."""
    run = start_run(agent)
    label = " ".join(["hunter2 password=hunter22"] * 8)[:200]
    saved = agent.post(
        f"/runs/{run}/checkpoints", json={"step": 0, "state": {}, "label": label}
    )
    assert saved.status_code == 201, saved.text
    assert len(saved.json()["label"]) <= 200
    later = agent.post(f"/runs/{run}/checkpoints", json={"step": 1, "state": {}})
    assert later.status_code == 422
    big = {"x": "y" * 64 * 1024}
    for state, status in ((big, 422), ({"x": "y" * (64 * 1024 - 8)}, 201)):
        answer = agent.post(
            f"/runs/{run}/checkpoints", json={"step": 0, "state": state}
        )
        assert answer.status_code == status, answer.text[:300]


def test_every_secret_of_a_state_is_named_by_its_place(agent: httpx.Client) -> None:
    run = start_run(agent)
    token = "gh" + "p_" + "a1B2" * 9
    state = {"a/b~": [{"x": 1}, {"y": token}], "long": ["z" * 5_000, token], token: 1}
    refused = agent.post(f"/runs/{run}/checkpoints", json={"step": 0, "state": state})
    assert refused.status_code == 422
    assert token not in refused.text
    places = [error["loc"] for error in refused.json()["errors"]]
    assert ["state", "a/b~", 1, "y"] in places
    assert ["state", "long", 1] in places
    said = [error["message"] for error in refused.json()["errors"]]
    assert any("the name of a key is a secret" in each for each in said)


def test_waits_are_whole_seconds_of_less_than_a_minute() -> None:
    for text, seconds in ((None, 0), ("0", 0), ("55", 55), ("05", 5)):
        assert wait_seconds(text) == seconds
    for text in ("", "56", "-1", "1.5", "²", "005", "x"):
        with pytest.raises(Invalid, match="0 to 55 whole seconds"):
            wait_seconds(text)


def test_no_total_is_more_than_can_be_counted() -> None:
    fields = {
        "tokens": "tokens",
        "tool_calls": "tool_calls",
        "time_ms": "duration_ms",
        "cost_micros": "cost_usd",
    }
    for name, told in fields.items():
        refuse_uncountable(Usage(**{name: TOTAL_MAX}))
        with pytest.raises(Invalid) as refused:
            refuse_uncountable(Usage(**{name: TOTAL_MAX + 1}))
        assert refused.value.errors[0]["loc"] == [told]


def test_a_review_is_named_by_the_calls_own_words() -> None:
    def title(text: str = "", command: str = "", name: str = "Bash") -> str:
        verdict = SimpleNamespace(shown={"command": command}, tool=name)
        finding = SimpleNamespace(details={"text": text}, message="Deletes")
        return build_title(verdict, finding)  # type: ignore[arg-type]

    assert title("rm  -rf\nbuild", "cd x; rm") == "rm -rf build: Deletes"
    assert title("", "rm x") == "rm x: Deletes"
    assert title() == "Bash: Deletes"
    assert title("x" * 80) == "x" * 80 + ": Deletes"
    assert title("x" * 81) == "x" * 79 + "…: Deletes"


def test_a_repeated_call_is_answered_by_its_own_run_and_policy(
    agent: httpx.Client, project: Project, neighbour: httpx.Client
) -> None:
    make_policy("cached", project=project, tools={"idempotent": ["q"]})
    run = start_run(agent, policy="cached")
    settle(agent, run, tool(agent, run, "q", n=1), output=7)
    assert tool(agent, run, "q", n=1)["replayed"] is True
    assert tool(agent, run, "q", n=2)["replayed"] is False
    for client in (agent, neighbour):
        fresh = start_run(client, policy="cached")
        assert tool(client, fresh, "q", n=1)["replayed"] is False
