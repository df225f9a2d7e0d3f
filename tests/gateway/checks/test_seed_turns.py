"""Rows AC and AL of the seed's scenarios, and its table of scores, at the doors.

AL-15 is about tools that fail, which steps report. What AL-10 and AL-12 leave alone is
left alone here too.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from tests.gateway.checks.test_turns import turn
from tests.support.builders import make_policy, start_run, step
from tests.support.rows import each_row

pytestmark = pytest.mark.once(
    "judges texts; how verdicts are stored is tested in test_flows and test_turns"
)

CONTINUE = "Let me continue with the next step."
DONE = "The implementation is complete. To summarize, I fixed the bug by hand."
CLOSING = "Let me know if you'd like me to make any changes."
FIXED = "The bug is fixed. All changes have been made successfully."
DROPPING = "Shall I proceed with dropping the production table?"
# A turn that stopped after a tool result, in a run that mostly calls tools.
STOPPED = {
    "finish_reason": "stop",
    "last_event": "tool_result",
    "recent_tool_ratio": 0.75,
}
EMPTY = {"finish_reason": None, "last_event": "tool_result", "content": ""}


def judge(client: httpx.Client, content: str, **facts: Any) -> dict[str, Any]:
    body = {**STOPPED, "content": content, **facts}
    answer = client.post("/evaluate/turn", json=body)
    assert answer.status_code == 200, answer.text
    verdict: dict[str, Any] = answer.json()
    return verdict


def row(number: str, content: str, action: str, score: int, **facts: Any) -> Any:
    return pytest.param(content, facts, action, score, id=number)


@each_row(
    ("content", "facts", "action", "score"),
    [
        row("AC-01", CONTINUE, "auto_continue", 70),
        row("AC-02", "", "auto_continue", 75, finish_reason="tool_calls"),
        row(
            *("AC-03", "Now I need to fix the imports.", "auto_continue", 85),
            finish_reason=None,
            recent_tool_ratio=0.6,
        ),
        row("AC-04", DONE, "finish", 25, recent_tool_ratio=0.5),
        row("AC-05", CLOSING, "finish", 0, last_event="user", recent_tool_ratio=0.3),
        row("AC-06", FIXED, "finish", 45, recent_tool_ratio=0.6),
        row("AC-07", "", "finish", 35, recent_tool_ratio=0.5),
        row("AC-08", CONTINUE, "finish", 35, last_event="user", recent_tool_ratio=0.2),
        row("AC-09-question", DROPPING, "needs_human", 70),
        row("AC-09-permission", "Please confirm that I may go on.", "needs_human", 45),
        row("AC-10", CONTINUE, "in_progress", 0, tool_calls=1),
        row("AC-11-length", CONTINUE, "warn", 70, finish_reason="length"),
        row("AC-11-filter", CONTINUE, "warn", 70, finish_reason="content_filter"),
        row("AC-12-curly", "I’m done. Now let me rest.", "finish", 45),
        row(
            *("AC-12-negation", "Not all files have been updated, I still need to."),
            *("auto_continue", 70),
        ),
        row("summary", "Let me continue with a summary.", "finish", 35),
        row("AL-01", "It prints 42.", "finish", 20, last_event="user"),
        row("AL-02", "It prints 42.", "in_progress", 0, tool_calls=2),
        row("AL-05", "", "warn", 45, finish_reason="content_filter"),
        row("AL-06", "", "finish", 20, last_event="user"),
    ],
)
def test_a_row(
    agent: httpx.Client, content: str, facts: dict[str, Any], action: str, score: int
) -> None:
    verdict = judge(agent, content, **facts)
    assert (verdict["action"], verdict["score"]) == (action, score)
    assert (verdict["nudge"] is not None) == (action == "auto_continue")


@each_row(
    ("content", "facts", "points", "action"),
    [
        pytest.param(CONTINUE, {}, [0, 25, 25, 10, 10], "auto_continue", id="70"),
        pytest.param(
            *("", {"finish_reason": "tool_calls"}, [30, 25, 0, 10, 10]),
            "auto_continue",
            id="75",
        ),
        pytest.param(
            *(CONTINUE, {"finish_reason": None}, [15, 25, 25, 10, 10]),
            "auto_continue",
            id="85",
        ),
        pytest.param(
            *("task is complete, summarize", {}, [0, 25, 0, 0, 10], "finish"), id="35"
        ),
        pytest.param(
            *("please review my changes", {"last_event": "assistant"}),
            *([0, 0, 0, 0, 10], "finish"),
            id="10",
        ),
        pytest.param(
            *("I'll continue", {"last_event": "user", "recent_tool_ratio": 0}),
            *([0, 0, 25, 10, 0], "finish"),
            id="35-no-tools",
        ),
    ],
)
def test_the_table_of_scores(
    agent: httpx.Client,
    reviewer: httpx.Client,
    content: str,
    facts: dict[str, Any],
    points: list[int],
    action: str,
) -> None:
    for client in (agent, reviewer):
        verdict = judge(client, content, **facts)
        assert list(verdict["signals"].values()) == points
        assert (verdict["score"], verdict["action"]) == (sum(points), action)


def test_ac_09_the_question_is_named(agent: httpx.Client) -> None:
    verdict = judge(agent, f"I looked at the schema. {DROPPING}")
    assert verdict["question"] == DROPPING


def actions(agent: httpx.Client, run: str, *turns: dict[str, Any]) -> list[str]:
    return [turn(agent, run, **one)["action"] for one in turns]


def test_al_03_no_reason_twice_and_then_a_stop_makes_three_turns(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("keen", project=project, turns={"threshold": 50})
    run = start_run(agent, policy="keen")
    done = {**EMPTY, "finish_reason": "stop", "content": "All done."}
    told = [turn(agent, run, **one) for one in (EMPTY, EMPTY, done)]
    assert [t["action"] for t in told] == ["auto_continue", "auto_continue", "finish"]
    assert [t["retries_used"] for t in told] == [1, 2, 0]


def test_al_04_four_empty_answers_are_sent_on_three_times(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("keen", project=project, turns={"threshold": 50})
    run = start_run(agent, policy="keen")
    told = actions(agent, run, EMPTY, EMPTY, EMPTY, EMPTY)
    assert told == ["auto_continue"] * 3 + ["needs_human"]


def test_al_07_open_todos_are_reminded_of_once_for_each_number(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    stop = {"finish_reason": "stop", "content": "The task is complete."}
    two, one = {**stop, "pending_todos": 2}, {**stop, "pending_todos": 1}
    first = turn(agent, run, **two)
    assert first["action"] == "auto_continue"
    assert "Two todos are still open." in first["nudge"]
    assert actions(agent, run, two, one, one, stop, two) == [
        *("finish", "auto_continue", "finish", "finish", "auto_continue")
    ]


def repeats(agent: httpx.Client, run: str, signs: str) -> bool:
    """Whether the step after turns with these calls is paused for repetition."""
    for sign in signs:
        turn(agent, run, tool_calls=1, tool_signature=sign)
    told = agent.post(f"/runs/{run}/steps", json=step(1)).json()
    gates = [finding["gate"] for finding in told["findings"]]
    assert (told["decision"] == "pause") == ("repetition" in gates)
    return "repetition" in gates


@each_row(
    ("signs", "fires"),
    [
        pytest.param("111", True, id="AL-08"),
        pytest.param("1", False, id="AL-09-once"),
        pytest.param("11", False, id="AL-09-twice"),
        pytest.param("112", False, id="AL-10"),
        pytest.param("123" * 3, True, id="AL-11-three"),
        pytest.param("12" * 3, True, id="AL-11-two"),
        pytest.param("1234" * 3, True, id="AL-11-four"),
        pytest.param("12312", False, id="AL-12"),
        pytest.param("12121", False, id="AL-12-read-and-edit"),
        pytest.param("123123454545", True, id="AL-13"),
    ],
)
def test_repeated_calls(agent: httpx.Client, signs: str, fires: bool) -> None:
    assert repeats(agent, start_run(agent), signs) is fires


@pytest.mark.parametrize(("signs", "fires"), [("1", False), ("11", True)])
def test_al_14_how_often_is_the_policys_to_say(
    agent: httpx.Client, project: Project, signs: str, fires: bool
) -> None:
    limits: dict[str, Any] = {"continue": {"repeat_limit": 2}}
    make_policy("impatient", project=project, **limits)
    assert repeats(agent, start_run(agent, policy="impatient"), signs) is fires


def test_the_rules_of_a_model_are_its_own(
    agent: httpx.Client, project: Project
) -> None:
    models = {"small-*": {"threshold": 101, "warn_from": 101, "max_retries": 0}}
    make_policy("models", project=project, turns={"models": models})
    for model, action in {"small-1": "finish", "large-1": "auto_continue"}.items():
        told = judge(agent, CONTINUE, policy="models", model=model)
        assert told["action"] == action
        run = start_run(agent, policy="models", model=model)
        body = {**STOPPED, "finish_reason": "tool_calls", "content": CONTINUE}
        del body["recent_tool_ratio"]
        assert turn(agent, run, **body)["action"] == action


@each_row(
    "changed",
    [
        {"finish_reason": "end_turn"},
        {"last_event": "tool"},
        {"tool_calls": -1},
        {"tool_calls": True},
        {"pending_todos": 1.0},
        {"recent_tool_ratio": 1.5},
        {"content": None},
        {"retries_used": 0},
    ],
)
def test_a_turn_that_cannot_be_is_refused(
    agent: httpx.Client, changed: dict[str, Any]
) -> None:
    answer = agent.post("/evaluate/turn", json={**STOPPED, **changed})
    assert answer.status_code == 422, answer.text
