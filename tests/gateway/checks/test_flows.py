"""Gate checks from the first prompt to a person's choice, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from tests.gateway.calls.calls import rule, slug
from tests.support.builders import make_policy, start_run, step
from tests.support.rows import each_row

GATES = {
    "tests-pass": {
        "name": "Test suite",
        "severity": "critical",
        "criteria": ["Every test passes", "New code has a test"],
    },
    "style": {"name": "Style", "severity": "high", "criteria": ["The linter is quiet"]},
    "notes": {"name": "Notes", "severity": "low", "criteria": ["The log is kept"]},
}


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("quality", project=project, gates=GATES)
    code = start_run(agent, policy="quality")
    agent.post(f"/runs/{code}/steps", json=step(1))
    return code


def open_new_check(
    agent: httpx.Client, run: str, *gates: str, **more: Any
) -> dict[str, Any]:
    body = {"step": 1, "gates": list(gates), **more}
    answer = agent.post(f"/runs/{run}/gate-checks", json=body)
    assert answer.status_code == 201, answer.text
    check: dict[str, Any] = answer.json()
    return check


def say(agent: httpx.Client, run: str, check: dict[str, Any], text: str) -> Any:
    path = f"/runs/{run}/gate-checks/{check['id']}/verdicts"
    return agent.post(path, json={"text": text})


def fail(agent: httpx.Client, run: str, check: dict[str, Any]) -> dict[str, Any]:
    answer = say(agent, run, check, "GATE_REVIEW: FAIL - No test covers the retry")
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_check_without_a_step_is_about_the_last_one_reported(
    agent: httpx.Client, run: str
) -> None:
    agent.post(f"/runs/{run}/steps", json=step(2))
    path = f"/runs/{run}/gate-checks"
    answer = agent.post(path, json={"gates": ["tests-pass"]})
    assert answer.status_code == 201, answer.text
    assert agent.get(f"{path}/{answer.json()['id']}").json()["step"] == 2


def test_before_the_first_step_a_check_is_about_the_run(
    agent: httpx.Client, run: str
) -> None:
    fresh = start_run(agent, policy="quality")
    answer = agent.post(f"/runs/{fresh}/gate-checks", json={"gates": ["tests-pass"]})
    assert answer.status_code == 201, answer.text
    path = f"/runs/{fresh}/gate-checks/{answer.json()['id']}"
    assert agent.get(path).json()["step"] == 0


def test_a_check_asks_with_its_criteria(agent: httpx.Client, run: str) -> None:
    check = open_new_check(agent, run, "tests-pass")
    assert check["enforcement_mode"] == "blocking"
    assert (check["attempt"], check["max_attempts"]) == (1, 2)
    assert "Attempt 1 of 2" in check["prompt"]
    assert "New code has a test" in check["prompt"]


def test_mixed_gates_take_the_strictest_mode(agent: httpx.Client, run: str) -> None:
    check = open_new_check(agent, run, "notes", "style", "tests-pass")
    assert check["enforcement_mode"] == "blocking"
    assert check["gates"] == ["notes", "style", "tests-pass"]


def test_pass_ends_the_check(agent: httpx.Client, run: str) -> None:
    check = open_new_check(agent, run, "tests-pass")
    told = say(agent, run, check, "GATE_REVIEW: PASS - 214 tests, all green").json()
    assert told["outcome"] == "passed"
    again = say(agent, run, check, "GATE_REVIEW: PASS - again")
    assert again.status_code == 409


def test_fail_retry_fail_choice_retry(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    check = open_new_check(agent, run, "tests-pass")
    first = fail(agent, run, check)
    assert (first["outcome"], first["attempts_left"]) == ("retry", 1)
    assert first["previous_feedback"] == "No test covers the retry"
    assert "Attempt 2 of 2" in first["prompt"]
    second = fail(agent, run, check)
    assert second["outcome"] == "exhausted"
    assert second["review"]["kind"] == "exhausted"
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"
    assert slug(say(agent, run, check, "PASS - now")) == "run-paused"

    review = reviewer.get(f"/reviews/{second['review']['id']}").json()
    assert review["rulings"] == ["retry", "skip", "abort"]
    said = [event["said"] for event in review["content"]["state"]["history"]]
    assert said == ["No test covers the retry"] * 2
    ruled = rule(reviewer, second, "retry", note="Mock the clock")
    assert ruled.status_code == 200, ruled.text
    assert agent.get(f"/runs/{run}/decision").json()["ruling"]["action"] == "retry"
    stands = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert (stands["status"], stands["attempt"]) == ("open", 1)
    assert "Mock the clock" in stands["prompt"]
    done = say(agent, run, check, "PASS - the clock is mocked").json()
    assert done["outcome"] == "passed"
    assert replay_run(Run.objects.get(code=run)).difference is None


def test_resets_are_capped(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("once", project=project, gates=GATES, checks={"max_resets": 1})
    run = start_run(agent, policy="once")
    check = open_new_check(agent, run, "tests-pass", step=0)
    fail(agent, run, check)
    rule(reviewer, fail(agent, run, check), "retry", note="once more")
    fail(agent, run, check)
    last = fail(agent, run, check)
    review = reviewer.get(f"/reviews/{last['review']['id']}").json()
    assert review["content"]["offers"] == ["skip", "abort"]
    assert review["rulings"] == ["skip", "abort"]
    refused = rule(reviewer, last, "retry", note="and again")
    assert (refused.status_code, slug(refused)) == (422, "invalid")


def test_skip_needs_a_reason_and_says_that_the_gate_was_not_passed(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    check = open_new_check(agent, run, "tests-pass")
    fail(agent, run, check)
    last = fail(agent, run, check)
    assert rule(reviewer, last, "skip").status_code == 422
    assert rule(reviewer, last, "skip", note="Known flake").status_code == 200
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    ruled = json.loads(lines[-1])["payload"]
    assert ruled["gates_passed"] is False
    assert ruled["check_state"]["status"] == "skipped"


def test_a_second_ruling_is_told_of_the_first(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    """Also when the check ran out of attempts again, and another review is open."""
    check = open_new_check(agent, run, "tests-pass")
    fail(agent, run, check)
    first = fail(agent, run, check)
    rule(reviewer, first, "retry", note="Once more")
    late = [rule(reviewer, first, "skip", note="x"), rule(reviewer, first, "skip")]
    fail(agent, run, check)
    assert fail(agent, run, check)["outcome"] == "exhausted"
    late.append(rule(reviewer, first, "retry", note="And again"))
    for answer in late:
        assert (answer.status_code, slug(answer)) == (409, "already-ruled")
        assert answer.json()["ruling"]["action"] == "retry"
    stands = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert stands["status"] == "exhausted"


def test_abort_ends_the_run_for_good(
    agent: httpx.Client, manager: httpx.Client, run: str
) -> None:
    """VR-43: it cannot be resumed."""
    check = open_new_check(agent, run, "tests-pass")
    fail(agent, run, check)
    rule(manager, fail(agent, run, check), "abort", note="Wrong branch")
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"
    again = manager.post(f"/runs/{run}/reopen", json={"reason": "no"})
    assert slug(again) == "run-closed"
    assert slug(say(agent, run, check, "PASS - x")) == "run-closed"


def test_an_advisory_failure_warns_until_acknowledged(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    check = open_new_check(agent, run, "style")
    told = fail(agent, run, check)
    assert told["outcome"] == "warned"
    assert told["review"] is None
    (warning,) = told["advisory_warnings"]
    assert "style" in warning["text"]
    later = open_new_check(agent, run, "notes")
    assert later["advisory_warnings"] == [warning]
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
    path = f"/runs/{run}/warnings/{warning['id']}/acknowledge"
    assert reviewer.post(path).status_code == 200
    assert open_new_check(agent, run, "notes")["advisory_warnings"] == []


def test_an_informational_failure_is_only_logged(agent: httpx.Client, run: str) -> None:
    told = fail(agent, run, open_new_check(agent, run, "notes"))
    assert told["outcome"] == "logged"
    assert told["advisory_warnings"] == []


def test_inline_gates_join_those_of_the_policy(agent: httpx.Client, run: str) -> None:
    own = {"id": "own", "name": "Own", "mode": "blocking", "criteria": ["Be kind"]}
    check = open_new_check(agent, run, "notes", inline=[own])
    assert check["gates"] == ["notes", "own"]
    milder = {"id": "tests-pass", "name": "x", "mode": "informational"}
    body = {"step": 1, "inline": [milder]}
    refused = agent.post(f"/runs/{run}/gate-checks", json=body)
    assert (refused.status_code, slug(refused)) == (422, "invalid")


@each_row(
    "body",
    [
        {"step": 1},
        {"step": 1, "gates": ["absent"]},
        {"step": 1, "gates": [""]},
        {"step": 9, "gates": ["style"]},
        {"step": True, "gates": ["style"]},
        {"step": "1", "gates": ["style"]},
        {"step": 1, "gates": ["style"], "mode": "advisory"},
        {"step": 1, "inline": [{"id": "Not Kebab", "name": "x"}]},
        {"step": 1, "inline": [{"id": "x", "severity": "dire"}]},
    ],
)
def test_a_check_that_cannot_be_is_refused(
    agent: httpx.Client, run: str, body: dict[str, Any]
) -> None:
    answer = agent.post(f"/runs/{run}/gate-checks", json=body)
    assert (answer.status_code, slug(answer)) == (422, "invalid"), answer.text


@each_row(
    "body",
    [
        {},
        {"text": ""},
        {"text": "looks good to me"},
        {"text": "GATE_REVIEW: PASS"},
        {"text": "PASS - a", "overall": "PASS", "rationale": "a"},
        {"overall": "MAYBE", "rationale": "a"},
        {"overall": "PASS"},
        {
            "overall": "PASS",
            "rationale": "a",
            "per_gate": [{"index": 1, "passed": False, "rationale": "b"}],
        },
        {"text": "GATE_REVIEW: PASS - ok\nGATE_VERDICTS\n[1] FAIL - no"},
    ],
)
def test_what_is_no_verdict_is_refused_with_the_forms_and_counts_nothing(
    agent: httpx.Client, run: str, body: dict[str, Any]
) -> None:
    check = open_new_check(agent, run, "tests-pass")
    path = f"/runs/{run}/gate-checks/{check['id']}/verdicts"
    answer = agent.post(path, json=body)
    assert (answer.status_code, slug(answer)) == (422, "invalid"), answer.text
    stands = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert stands["attempt"] == 1


def test_a_claimed_pass_without_its_proof_does_not_pass(
    agent: httpx.Client, project: Project
) -> None:
    proven = {
        "name": "Proven",
        "severity": "critical",
        "criteria": [
            {"text": "Tests pass", "verifier": "command", "command": "pytest -q"}
        ],
    }
    make_policy("proof", project=project, gates={"proven": proven})
    run = start_run(agent, policy="proof")
    check = open_new_check(agent, run, "proven", step=0)
    told = say(agent, run, check, "PASS - all green").json()
    assert (told["outcome"], told["unproven"]) == ("retry", ["proven.1"])
    path = f"/runs/{run}/gate-checks/{check['id']}/verdicts"
    evidence = {"criterion": "proven.1", "exit_code": 0, "output_sha256": "0" * 64}
    body = {"text": "PASS - all green", "evidence": [evidence]}
    assert agent.post(path, json=body).json()["outcome"] == "passed"


def test_another_agents_check_is_not_found(agent: httpx.Client, run: str) -> None:
    check = open_new_check(agent, run, "style")
    other = start_run(agent)
    assert say(agent, other, check, "PASS - x").status_code == 404


def test_a_warning_is_acknowledged_in_its_own_run_alone(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    """Whoever may see another run may not answer for this one by its address."""
    (warning,) = fail(agent, run, open_new_check(agent, run, "style"))[
        "advisory_warnings"
    ]
    path = f"/runs/{start_run(agent)}/warnings/{warning['id']}/acknowledge"

    assert reviewer.post(path).status_code == 404
    assert open_new_check(agent, run, "notes")["advisory_warnings"] == [warning]
