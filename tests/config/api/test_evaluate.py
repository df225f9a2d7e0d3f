"""POST /evaluate/continue: the same gate without a run, nothing stored."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import Entry, Run
from tests.support.builders import make_policy
from tests.support.problems import fields, problem

pytestmark = pytest.mark.once("judges without a run and stores nothing")

GOOD: dict[str, Any] = {
    "step_number": 10,
    "total_tokens_used": 5000,
    "total_tool_calls": 20,
    "rework_count": 1,
    "coherence_score": 0.9,
    "uncertainty_score": 0.1,
    "budget_remaining": {"tokens": 1000, "tool_calls": 10, "time_ms": 1000},
    "last_checkpoint_step": 5,
    "recent_step_tokens": [100, 100, 100, 100, 100, 100],
}


def judge(client: httpx.Client, **changed: Any) -> dict[str, Any]:
    answer = client.post("/evaluate/continue", json={**GOOD, **changed})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_an_agent_and_a_person_get_the_same_judgement(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    body = judge(agent)

    assert judge(reviewer) == body
    assert body["decision"] == "continue"
    assert body["findings"] == []
    assert body["recommended_action"]
    assert body["metrics"]["rework_ratio"] == 0.1
    assert body["metrics"]["steps_since_checkpoint"] == 5
    assert body["metrics"]["budget_slope"] == 0.0
    assert body["metrics"]["budget_remaining"]["tokens"] == 1000


def test_every_gate_speaks(agent: httpx.Client, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str, str | None]] = [
        ({"coherence_score": 0.39}, "stop", "coherence"),
        ({"coherence_score": 0.4}, "continue", None),
        ({"step_number": 105}, "stop", "step_limit"),
        ({"budget_remaining": {"tokens": 0}}, "stop", "budget"),
        ({"budget_remaining": {"time_ms": -5}}, "stop", "budget"),
        ({"budget_remaining": {"tokens": 1}}, "continue", None),
        ({"rework_count": 4}, "pause", "rework"),
        ({"rework_count": 3}, "continue", None),
        ({"uncertainty_score": 0.81}, "pause", "uncertainty"),
        ({"uncertainty_score": 0.8}, "continue", None),
        ({"step_number": 30}, "checkpoint", "checkpoint"),
        ({"step_number": 29}, "continue", None),
        (
            {"recent_step_tokens": [100, 110, 121, 133, 146, 161]},
            "throttle",
            "slope",
        ),
    ]
    for changed, decision, gate in cases:
        with subtests.test(changed=changed, decision=decision, gate=gate):
            body = judge(agent, **changed)

            assert body["decision"] == decision
            assert gate is None or gate in [
                finding["gate"] for finding in body["findings"]
            ]


def test_nothing_is_stored(agent: httpx.Client, project: Project) -> None:
    judge(agent, coherence_score=0.1)

    assert not Run.objects.filter(project=project).exists()
    assert not Entry.objects.filter(project=project).exists()


def test_a_policy_is_chosen_by_name(agent: httpx.Client, project: Project) -> None:
    make_policy("strict", project=project, **{"continue": {"min_coherence": 0.95}})

    assert judge(agent, policy="strict")["decision"] == "stop"
    assert judge(agent, policy="default")["decision"] == "continue"
    refusal = agent.post("/evaluate/continue", json={**GOOD, "policy": "none"})
    assert fields(problem(refusal, "invalid")) == ["policy"]


def test_scores_left_out_are_not_evaluated(agent: httpx.Client) -> None:
    body = judge(agent, coherence_score=None, uncertainty_score=None)

    assert {"coherence", "uncertainty"} <= set(body["metrics"]["not_evaluated"])


def test_a_figure_that_cannot_be_true_is_refused(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"step_number": -1}, "step_number"),
        ({"step_number": "1"}, "step_number"),
        ({"rework_count": 11}, "rework_count"),
        ({"last_checkpoint_step": 11}, "last_checkpoint_step"),
        ({"coherence_score": 1.5}, "coherence_score"),
        ({"uncertainty_score": -0.5}, "uncertainty_score"),
        ({"recent_step_tokens": [1] * 11}, "recent_step_tokens"),
        ({"recent_step_tokens": [-1]}, "recent_step_tokens.0"),
        ({"budget_remaining": {"tokens": 1.5}}, "budget_remaining.tokens"),
        ({"budget_remaining": {"euro": 1}}, "budget_remaining.euro"),
        ({"total_tokens_used": None}, "total_tokens_used"),
        ({"verdict": "continue"}, "verdict"),
    ]
    for changed, field in cases:
        with subtests.test(changed=changed, field=field):
            refusal = agent.post("/evaluate/continue", json={**GOOD, **changed})

            assert field in fields(problem(refusal, "invalid"))
