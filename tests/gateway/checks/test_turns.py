"""Turns of a run: sent on, finished, or put before a person, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from guidance.core.policy import load_policy
from guidance.core.turns.judge_turn import TURN_VERSION
from ledger.models import Run
from ledger.verification.replay import replay_run
from tests.gateway.backtest.test_unknown import overwrite
from tests.gateway.calls.calls import rule, slug
from tests.support.builders import start_run, step

pytestmark = pytest.mark.once("judges turns, not SQL")

HALF_WAY = {
    "finish_reason": "tool_calls",
    "tool_calls": 0,
    "last_event": "tool_result",
    "content": "Now I need to fix the second file.",
}
ASKING = {
    "finish_reason": "stop",
    "last_event": "tool_result",
    "content": "Shall I proceed with dropping the production table?",
}


def turn(agent: httpx.Client, run: str, **body: Any) -> dict[str, Any]:
    answer = agent.post(f"/runs/{run}/turns", json=body)
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_turn_that_stopped_half_way_is_sent_on(agent: httpx.Client) -> None:
    run = start_run(agent)
    told = turn(agent, run, **HALF_WAY)
    assert told["action"] == "auto_continue"
    assert told["score"] == 90
    assert told["signals"]["finish_reason"] == 30
    assert (told["retries_used"], told["max_retries"]) == (1, 3)
    assert told["nudge"]
    assert told["review"] is None


def test_three_times_in_a_row_and_then_a_person_is_asked(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    texts = ["one", "two", "three", "four"]
    told = [
        turn(agent, run, **{**HALF_WAY, "content": f"I still need to do {text}."})
        for text in texts
    ]
    assert [t["action"] for t in told] == ["auto_continue"] * 3 + ["needs_human"]
    assert told[-1]["review"]["kind"] == "question"
    rule(reviewer, told[-1], "answer", answer="Do the fourth one, too.")
    decision = agent.get(f"/runs/{run}/decision").json()
    assert decision["ruling"]["answer"] == "Do the fourth one, too."
    again = turn(agent, run, **{**HALF_WAY, "content": "Next step is five."})
    assert (again["action"], again["retries_used"]) == ("auto_continue", 1)
    assert replay_run(Run.objects.get(code=run)).difference is None


def test_a_question_always_goes_to_a_person(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    told = turn(agent, run, **ASKING)
    assert told["action"] == "needs_human"
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"
    review = reviewer.get(f"/reviews/{told['review']['id']}").json()
    assert review["title"] == ASKING["content"]
    assert slug(agent.post(f"/runs/{run}/turns", json=HALF_WAY)) == "run-paused"
    rule(reviewer, told, "answer", answer="No. Archive it first.")
    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    assert ruling["answer"] == "No. Archive it first."


def test_a_turn_with_calls_is_in_progress_and_not_counted(agent: httpx.Client) -> None:
    run = start_run(agent)
    told = turn(agent, run, finish_reason="tool_calls", tool_calls=2, content="")
    assert (told["action"], told["retries_used"]) == ("in_progress", 0)


def test_the_same_turn_three_times_pauses_the_next_step(agent: httpx.Client) -> None:
    run = start_run(agent)
    for _ in range(3):
        turn(agent, run, tool_calls=1, tool_signature="bash:ls", content="Looking.")
    told = agent.post(f"/runs/{run}/steps", json=step(1)).json()
    assert told["decision"] == "pause"
    assert told["findings"][0]["gate"] == "repetition"
    assert "turn" in told["findings"][0]["message"]
    assert replay_run(Run.objects.get(code=run)).difference is None


def test_the_doors_without_a_run(agent: httpx.Client, reviewer: httpx.Client) -> None:
    body = {**HALF_WAY, "recent_tool_ratio": 0.8}
    for client in (agent, reviewer):
        told = client.post("/evaluate/turn", json=body).json()
        assert (told["action"], told["score"]) == ("auto_continue", 100)
    text = "GATE_REVIEW: FAIL - No test covers the retry"
    read = agent.post("/evaluate/verdict", json={"text": text}).json()
    assert (read["overall"], read["rationale"]) == ("FAIL", "No test covers the retry")
    assert read["per_gate"] == []
    refused = agent.post("/evaluate/verdict", json={"text": "fine"})
    assert slug(refused) == "invalid"
    assert refused.json()["accepted_forms"]


def test_a_reopened_run_is_sent_on_as_often_as_a_new_one(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    for text in ("one", "two", "three"):
        told = turn(
            agent, run, **{**HALF_WAY, "content": f"I still need to do {text}."}
        )
    assert told["retries_used"] == told["max_retries"]
    stopped = agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))
    assert stopped.json()["decision"] == "stop"
    manager.post(f"/runs/{run}/reopen", json={"reason": "Looked at it."})

    again = turn(agent, run, **{**HALF_WAY, "content": "Next step is four."})

    assert (again["action"], again["retries_used"]) == ("auto_continue", 1)
    assert replay_run(Run.objects.get(code=run)).difference is None


def test_a_turn_carries_the_version_of_what_judged_it(agent: httpx.Client) -> None:
    run = start_run(agent)
    turn(agent, run, **HALF_WAY)

    entry = Run.objects.get(code=run).entries.get(type="turn.judged")
    assert json.loads(entry.payload)["engine"] == TURN_VERSION


def test_turns_that_were_judged_before_are_left_as_they_were(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    turn(agent, run, **HALF_WAY)
    turn(agent, run, **ASKING)
    stored = Run.objects.get(code=run)
    other = load_policy({"turns": {"threshold": 99}})
    assert replay_run(stored, policy=other).difference is not None

    monkeypatch.setattr("gateway.replay.TURN_VERSION", TURN_VERSION + 1)
    again = replay_run(stored, policy=other)

    assert (again.difference, again.skipped) == (None, 2)


def test_a_turn_of_a_later_version_is_a_difference(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    turn(agent, run, **HALF_WAY)

    monkeypatch.setattr("gateway.replay.TURN_VERSION", TURN_VERSION - 1)
    difference = replay_run(Run.objects.get(code=run)).difference

    assert difference is not None
    assert difference.what == "engine version"


def test_a_turn_from_before_there_were_versions_is_of_the_first(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is judged again while that one is in use, and left alone afterwards."""
    run = start_run(agent)
    turn(agent, run, **HALF_WAY)
    stored = Run.objects.get(code=run)
    entry = stored.entries.get(type="turn.judged")
    payload = json.loads(entry.payload)
    del payload["engine"]
    overwrite(entry, json.dumps(payload))
    other = load_policy({"turns": {"threshold": 99}})

    assert replay_run(stored).difference is None
    assert replay_run(stored, policy=other).difference is not None
    monkeypatch.setattr("gateway.replay.TURN_VERSION", 2)
    again = replay_run(stored, policy=other)
    assert (again.difference, again.skipped) == (None, 1)
