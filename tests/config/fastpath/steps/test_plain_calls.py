"""Plain calls that are let through get no task; all others go the usual way."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from config.fastpath import at_once
from gateway.use_cases import access
from gateway.use_cases.call_requests import JudgeCall
from gateway.use_cases.tool_calls import build_plain_call_request
from reviews.errors import PolicyMoved
from tests.support.builders import start_run
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges requests, not what is stored")
PLAIN = "cd app && pytest -q -k race 2>&1 | tail -n 40"


def ask(
    agent: httpx.Client, run: str, command: str = PLAIN, **more: Any
) -> httpx.Response:
    headers = more.pop("headers", {})
    body = {"kind": "command", "command": command, **more}
    return agent.post(f"/runs/{run}/tool-calls", json=body, headers=headers)


def test_a_plain_call_needs_no_task(agent: httpx.Client, taken: list[bool]) -> None:
    """But the first of a run, whose policy is not known yet."""
    run = start_run(agent)
    calls = [ask(agent, run).json() for _ in range(3)]

    assert [call["decision"] for call in calls] == ["allow"] * 3
    assert taken[-2:] == [True, True]
    for call in calls:
        given = {"digest": call["digest"]}
        path = f"/runs/{run}/tool-calls/{call['id']}/claim"
        assert agent.post(path, json=given).status_code == 200
    assert {name: calls[0][name] for name in ("findings", "policy", "notes")} == {
        name: calls[2][name] for name in ("findings", "policy", "notes")
    }


OTHERS: dict[str, dict[str, Any]] = {
    "a command to ask about": {"command": "rm -rf /srv/data"},
    "a command that is not plain": {"command": "echo $(date)"},
    "a long one": {"command": "echo " + "a" * 500},
    "a secret": {"command": "echo AKIA" + "ABCDEFGHIJKLMNOP"},
    "one that a person is to see": {"confirm": True},
    "arguments beside it": {"arguments": {"timeout": 5}},
}


@each_row("body", OTHERS.values(), ids=OTHERS)
def test_all_others_go_the_usual_way(
    agent: httpx.Client, taken: list[bool], body: dict[str, Any]
) -> None:
    run = start_run(agent)
    ask(agent, run)
    taken.clear()

    answer = ask(agent, run, **body)

    assert answer.status_code == 201
    assert taken == [False]


def test_a_longer_body_behind_a_known_head_is_not_read_at_once(
    agent: httpx.Client, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    for _ in range(3):
        ask(agent, run)
    built: list[int] = []
    build = build_plain_call_request

    def watch(**given: Any) -> Any:
        built.append(1)
        return build(**given)

    monkeypatch.setattr(at_once, "build_plain_call_request", watch)

    assert ask(agent, run, "echo " + "word " * 450).status_code == 201
    assert built == []
    assert not taken[-1]


def test_the_same_key_again_gets_the_same_answer(
    agent: httpx.Client, taken: list[bool]
) -> None:
    run = start_run(agent)
    ask(agent, run)
    headers = {"Idempotency-Key": f"plain-{run}"}
    first, again = (ask(agent, run, headers=headers) for _ in range(2))

    assert taken[-2:] == [True, True]
    assert again.headers["idempotency-replayed"] == "true"
    assert again.content == first.content


def test_under_a_policy_that_moved_it_is_judged_again(
    agent: httpx.Client, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    ask(agent, run)
    decide = JudgeCall.decide
    moved: list[str] = []  # the writer asks twice before it believes that

    def move_once(self: JudgeCall, *given: Any) -> Any:
        if not moved or self.call_code in moved:
            moved.append(self.call_code)
            raise PolicyMoved("The run goes on under another version of its policy.")
        return decide(self, *given)

    monkeypatch.setattr(JudgeCall, "decide", move_once)
    answer = ask(agent, run)

    assert taken[-1]
    assert answer.status_code == 201
    assert answer.json()["id"] not in moved


def test_a_run_of_another_agent_is_absent(
    agent: httpx.Client, taken: list[bool]
) -> None:
    run = start_run(agent)
    ask(agent, run)
    wrong = run[:-1] + ("0" if run[-1] != "0" else "1")
    access._POLICIES.update(
        {(key[0], wrong): value for key, value in access._POLICIES.items()}
    )

    answer = ask(agent, wrong)

    assert (taken[-1], answer.status_code) == (True, 404)
    assert json.loads(answer.content)["type"] == "/problems/not-found"
