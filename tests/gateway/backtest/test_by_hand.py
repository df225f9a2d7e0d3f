"""One change of a policy at a time: what comes out otherwise is counted by hand."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from tests.gateway.backtest.trying import judge_again, list_moves, try_draft
from tests.gateway.calls.calls import command, rule
from tests.gateway.checks.test_flows import GATES, fail, open_new_check, say
from tests.support.builders import make_policy, pause_at_once, start_run, step


def report(agent: httpx.Client, run: str, *reworks: bool, **more: Any) -> None:
    for number, rework in enumerate(reworks, 1):
        body = step(number, rework=rework, **more)
        answer = agent.post(f"/runs/{run}/steps", json=body)
        assert answer.status_code == 201, answer.text


def test_what_is_in_force_changes_nothing(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    report(agent, run, *[False] * 4)
    command(agent, run, "rm -rf src")

    found = try_draft(project)

    assert (found["judged"], found["changed"], found["unknown"]) == (5, 0, 0)
    assert found["decisions"] == {
        "step": {"continue→continue": 4},
        "call": {"require-confirmation→require-confirmation": 1},
    }


def test_a_lower_rework_ratio_pauses_the_steps_above_it(
    agent: httpx.Client, project: Project
) -> None:
    """1 of 5, 1 of 6, 2 of 7, 2 of 8: only 2 of 7 is more than a quarter."""
    run = start_run(agent)
    report(agent, run, False, True, False, False, False, False, True, False)

    found = try_draft(project, **{"continue": {"max_rework_ratio": 0.25}})

    assert found["judged"] == 8
    assert found["changed"] == found["would_have_asked"] == 1
    assert found["moves"] == {"continue→pause": 1}
    assert found["by_gate"] == {"rework": 1}
    assert found["by_rule"] == [
        {"gate": "rework", "rule": None, "softer": 0, "stricter": 1}
    ]
    items = judge_again(project, {"continue": {"max_rework_ratio": 0.25}})
    # The run's first entry is its beginning, so step 7 is entry 8.
    assert [each for each in list_moves(items) if each[1] != each[2]] == [
        (8, "continue", "pause")
    ]


def test_a_wider_window_looks_back_further_than_the_run_itself_did(
    agent: httpx.Client, project: Project
) -> None:
    make_policy(
        "near",
        project=project,
        **{"continue": {"rework_window": 5, "max_rework_ratio": 0.5}},
    )
    run = start_run(agent, policy="near")
    report(agent, run, *[True, True, *[False] * 38])

    wide = {"rework_window": 100, "max_rework_ratio": 0.04}
    found = try_draft(project, **{"continue": wide})

    # 2 of n is more than 4 % up to n = 49; below 5 steps nothing is judged, and from
    # step 25 on a checkpoint was due.
    assert found["moves"] == {"continue→pause": 20, "checkpoint→pause": 16}


def test_a_looser_limit_asks_less(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    rule(reviewer, {"review": {"id": pause_at_once(agent, run)}}, "approve")
    pause_at_once(agent, run, number=2)

    found = try_draft(project, **{"continue": {"max_uncertainty": 0.95}})

    assert found["moves"] == {"pause→continue": 2}
    assert (found["would_not_have_asked"], found["would_have_asked"]) == (2, 0)
    assert found["by_gate"] == {"uncertainty": 2}
    assert found["runs_changed"] == 1


@pytest.mark.parametrize("limit", [2_500, 4_000, None])
def test_another_budget_moves_the_run_that_had_the_policys(
    agent: httpx.Client, project: Project, limit: int | None
) -> None:
    """Three steps of 1,000 tokens each, under 3,000: the third leaves nothing."""
    make_policy(
        "poor",
        project=project,
        budget={"tokens": 3_000},
        budget_ceiling={"tokens": 5_000},
    )
    run = start_run(agent, policy="poor")
    report(agent, run, False, False, False)
    asked = start_run(agent, policy="poor", budget={"tokens": 5_000})
    report(agent, asked, False, False, False)

    moves = list_moves(judge_again(project, {"budget": {"tokens": limit}}))

    # The newest run comes first: what it had asked for itself stays.
    assert [(before, after) for _, before, after in moves[:3]] == [
        ("continue", "continue")
    ] * 3
    assert [before for _, before, _ in moves[3:]] == ["continue", "continue", "stop"]
    assert [after for _, _, after in moves[3:]] == {
        2_500: ["continue", "continue", "stop"],
        4_000: ["continue", "continue", "continue"],
        None: ["continue", "continue", "continue"],
    }[limit]
    raised = limit != 2_500
    found = try_draft(project, budget={"tokens": limit})
    assert found["moves"] == ({"stop→continue": 1} if raised else {})
    assert found["by_gate"] == ({"budget": 1} if raised else {})


def test_calls_are_let_through_by_a_higher_budget(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("poor", project=project, budget={"tool_calls": 1})
    run = start_run(agent, policy="poor")
    assert command(agent, run, "ls")["decision"] == "allow"
    assert command(agent, run, "ls -a")["decision"] == "block"

    found = try_draft(project, budget={"tool_calls": 2})

    assert (found["judged"], found["moves"]) == (2, {"block→allow": 1})
    assert found["by_gate"] == {"budget": 1}


def test_a_rule_that_only_warns_asks_nobody(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    for text in ("git push --force", "rm -rf src", "ls"):
        command(agent, run, text)

    found = try_draft(project, tools={"rules": {"git-push-force": "warn"}})

    assert found["judged"] == 3
    assert found["moves"] == {"require-confirmation→warn": 1}
    assert found["would_not_have_asked"] == 1
    assert [(each["rule"], each["softer"]) for each in found["by_rule"]] == [
        ("git-push-force", 1)
    ]


def test_a_permission_answers_what_the_draft_asks_as_well(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    first = command(agent, run, "rm -rf src")
    rule(reviewer, first, "approve", remember={"scope": "exact"})
    assert command(agent, run, "rm -rf src")["decision"] == "allow"
    (name,) = {each["details"]["rule"] for each in first["findings"]}

    same = try_draft(project, tools={"max_diff_lines": 7})
    blocked = try_draft(project, tools={"rules": {name: "block"}})
    always = try_draft(project, tools={"always_ask": [name]})

    assert same["changed"] == 0
    assert blocked["moves"] == {"require-confirmation→block": 1, "allow→block": 1}
    assert always["moves"] == {"allow→require-confirmation": 1}


@pytest.fixture
def checked(agent: httpx.Client, project: Project) -> str:
    """Two failures that exhaust a check, one that only warns, and one that passes."""
    make_policy("quality", project=project, gates=GATES)
    run = start_run(agent, policy="quality")
    style = open_new_check(agent, run, "style", step=0)
    fail(agent, run, style)
    passed = open_new_check(agent, run, "notes", step=0)
    say(agent, run, passed, "GATE_REVIEW: PASS - The log is kept")
    tests = open_new_check(agent, run, "tests-pass", step=0)
    fail(agent, run, tests)
    assert fail(agent, run, tests)["outcome"] == "exhausted"
    return run


def test_a_gate_that_is_gone_checks_nothing(checked: str, project: Project) -> None:
    left = {name: gate for name, gate in GATES.items() if name != "tests-pass"}

    found = try_draft(project, gates=left)

    assert found["judged"] == 4
    assert found["moves"] == {"retry→not_checked": 1, "exhausted→not_checked": 1}
    assert found["by_gate"] == {"tests-pass": 2}
    assert found["would_not_have_asked"] == 1


def test_another_mode_and_other_attempts_are_named(
    checked: str, project: Project
) -> None:
    once = GATES["tests-pass"] | {"retry": {"max_attempts": 1}}
    strict = GATES["style"] | {"severity": "critical"}

    found = try_draft(project, gates=GATES | {"tests-pass": once, "style": strict})

    assert found["moves"] == {"retry→exhausted": 1, "warned→retry": 1}
    assert found["by_gate"] == {"tests-pass": 1, "style": 1}


def test_a_gate_that_asks_something_else_is_unknown(
    checked: str, project: Project
) -> None:
    other = GATES["tests-pass"] | {"criteria": ["Every test is quick"]}

    found = try_draft(project, gates=GATES | {"tests-pass": other})

    assert (found["judged"], found["changed"], found["unknown"]) == (2, 0, 2)


def test_turns_are_sent_on_less_often(agent: httpx.Client, project: Project) -> None:
    run = start_run(agent)
    body = {
        "finish_reason": "stop",
        "content": "Next I will fix it.",
        "pending_todos": 2,
    }
    answer = agent.post(f"/runs/{run}/turns", json=body)
    assert answer.json()["action"] == "auto_continue", answer.text

    found = try_draft(project, turns={"max_retries": 0})

    assert found["moves"] == {"auto_continue→needs_human": 1}
    assert (found["by_gate"], found["would_have_asked"]) == ({"turn": 1}, 1)
