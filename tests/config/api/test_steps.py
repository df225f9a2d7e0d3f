"""POST /runs/{run}/steps: the decision object, order, and closed doors."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from common.errors import Invalid
from gateway.use_cases.steps import refuse_uncountable
from guidance.core.runs.usage import Usage
from tests.support.builders import make_policy, pause_run, start_run, step
from tests.support.problems import fields, problem

FULL_STEP = {
    "number": 1,
    "tokens": 1830,
    "tool_calls": 2,
    "duration_ms": 4200,
    "cost_usd": "0.0121",
    "rework": False,
    "checkpoint": False,
    "coherence": 0.83,
    "uncertainty": 0.22,
    "confidences": [0.9, 0.8],
    "intent": "bug-fix",
    "summary": "Ran the failing test, found the race",
    "signature": "bash:pytest -k login",
    "failed_calls": 0,
}
METRICS = {
    "budget_slope",
    "budget_slope_significant",
    "rework_ratio",
    "rework_ratio_total",
    "steps_since_checkpoint",
    "steps_until_checkpoint",
    "coherence",
    "coherence_level",
    "coherence_source",
    "uncertainty",
    "uncertainty_level",
    "uncertainty_source",
    "budget_remaining",
}


def test_a_full_step_is_answered_to_the_letter_of_the_contract(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)

    answer = agent.post(f"/runs/{run}/steps", json=FULL_STEP)

    decision = answer.json()
    assert answer.status_code == 201
    assert "idempotency-replayed" not in answer.headers
    assert list(decision) == [
        *("run", "step", "decision", "checkpoint_due", "delay_ms", "findings"),
        *("metrics", "recommended_action", "review", "policy", "notes", "receipt"),
    ]
    assert decision["run"] == run
    assert decision["step"] == 1
    assert decision["decision"] == "continue"
    assert decision["checkpoint_due"] is False
    assert decision["delay_ms"] == 0
    assert decision["findings"] == []
    assert decision["review"] is None
    assert decision["recommended_action"]
    metrics = decision["metrics"]
    assert set(metrics) >= METRICS
    assert metrics["budget_slope"] == 0.0
    assert metrics["budget_slope_significant"] is False
    assert metrics["rework_ratio"] == metrics["rework_ratio_total"] == 0.0
    assert metrics["steps_since_checkpoint"] == 1
    assert metrics["steps_until_checkpoint"] == 24
    assert metrics["coherence"] == 0.83
    assert metrics["coherence_level"] == "healthy"
    assert metrics["coherence_source"] == "reported"
    assert metrics["uncertainty"] == 0.22
    assert metrics["uncertainty_level"] == "low"
    assert metrics["uncertainty_source"] == "reported"
    assert metrics["budget_remaining"] == {
        "tokens": 998_170,
        "tool_calls": 9998,
        "time_ms": 3_595_800,
        "cost_usd": "9.9879",
    }
    stored = agent.get(f"/runs/{run}").json()
    assert decision["policy"] == stored["policy"]
    assert (
        decision["receipt"]
        == stored["head"]
        == {"seq": 2, "hash": stored["head"]["hash"]}
    )
    assert stored["budget"]["cost_usd"] == {
        "limit": "10.00",
        "used": "0.0121",
        "remaining": "9.9879",
    }


def test_what_is_not_known_is_null_and_said_not_to_be_evaluated(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)

    metrics = agent.post(f"/runs/{run}/steps", json=step(1)).json()["metrics"]

    assert metrics["coherence"] is metrics["coherence_level"] is None
    assert metrics["uncertainty"] is metrics["uncertainty_level"] is None
    assert metrics["coherence_source"] == metrics["uncertainty_source"] == "unknown"
    assert {"coherence", "uncertainty"} <= set(metrics["not_evaluated"])


def test_scores_left_out_are_computed_once_enough_is_known(agent: httpx.Client) -> None:
    run = start_run(agent)

    answers = [
        agent.post(f"/runs/{run}/steps", json=step(n, confidences=[0.25])).json()
        for n in range(1, 6)
    ]

    assert answers[3]["metrics"]["coherence"] is None
    assert answers[4]["metrics"]["coherence"] == 1.0
    assert answers[4]["metrics"]["coherence_source"] == "computed"
    assert answers[4]["metrics"]["uncertainty"] == 0.75
    assert answers[4]["metrics"]["uncertainty_level"] == "high"


def test_coherence_has_three_levels(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[float, str]] = [
        (0.7, "healthy"),
        (0.69, "degraded"),
        (0.4, "degraded"),
        (0.39, "critical"),
    ]
    for score, level in cases:
        with subtests.test(score=score, level=level):
            run = start_run(agent)

            decision = agent.post(
                f"/runs/{run}/steps", json=step(1, coherence=score)
            ).json()

            assert decision["metrics"]["coherence_level"] == level
            assert decision["decision"] == ("stop" if score < 0.4 else "continue")


def test_uncertainty_has_four_levels(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[float, str]] = [
        *((0.3, "low"), (0.31, "moderate"), (0.6, "moderate"), (0.61, "high")),
        *((0.8, "high"), (0.81, "extreme")),
    ]
    for score, level in cases:
        with subtests.test(score=score, level=level):
            run = start_run(agent)

            decision = agent.post(
                f"/runs/{run}/steps", json=step(1, uncertainty=score)
            ).json()

            assert decision["metrics"]["uncertainty_level"] == level
            assert decision["decision"] == ("pause" if score > 0.8 else "continue")


def test_every_gate_that_tripped_is_told_and_the_most_severe_wins(
    agent: httpx.Client,
) -> None:
    run = start_run(agent, budget={"tokens": 1000})
    body = step(1, tokens=1500, coherence=0.1, uncertainty=0.9)

    decision = agent.post(f"/runs/{run}/steps", json=body).json()

    assert decision["decision"] == "stop"
    by_gate = {finding["gate"]: finding for finding in decision["findings"]}
    assert set(by_gate) == {"coherence", "budget", "uncertainty"}
    assert by_gate["uncertainty"] == {
        "gate": "uncertainty",
        "decision": "pause",
        "message": by_gate["uncertainty"]["message"],
        "value": 0.9,
        "limit": 0.8,
    }
    assert by_gate["budget"]["decision"] == "stop"
    assert decision["review"] is None
    assert decision["metrics"]["budget_remaining"]["tokens"] == 0
    run_now = agent.get(f"/runs/{run}").json()
    assert run_now["status"] == "stopped"
    assert run_now["status_reason"]
    assert run_now["finished_at"] is None
    assert run_now["budget"]["tokens"] == {
        "limit": 1000,
        "used": 1500,
        "remaining": -500,
    }


def test_a_pause_opens_a_review_and_the_run_names_it(agent: httpx.Client) -> None:
    run = start_run(agent)

    decision = pause_run(agent, run)

    review = decision["review"]
    assert decision["step"] == 5
    assert list(review) == ["id", "kind", "url"]
    assert review["kind"] == "pause"
    assert review["id"] in review["url"]
    stored = agent.get(f"/runs/{run}").json()
    assert stored["status"] == "paused"
    assert stored["open_reviews"] == [review]
    assert stored["rework_steps"] == stored["steps"] == stored["last_step"] == 5


def test_a_step_on_a_paused_run_is_refused_with_its_review(agent: httpx.Client) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]
    before = agent.get(f"/runs/{run}").json()

    refusal = problem(agent.post(f"/runs/{run}/steps", json=step(6)), "run-paused")

    assert refusal["review"] == review
    assert agent.get(f"/runs/{run}").json() == before


def test_a_step_on_a_stopped_run_is_refused_with_its_status(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))

    refusal = problem(agent.post(f"/runs/{run}/steps", json=step(2)), "run-closed")

    assert refusal["run_status"] == "stopped"


def test_a_step_out_of_order_names_the_expected_one(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[int] = [2, 3, 2**31 - 1]
    for number in cases:
        with subtests.test(number=number):
            refusal = problem(
                agent.post(f"/runs/{run}/steps", json=step(number)), "step-out-of-order"
            )

            assert refusal["expected"] == 1
            assert agent.get(f"/runs/{run}").json()["steps"] == 0


def test_a_throttle_tells_how_long_to_wait_and_doubles(agent: httpx.Client) -> None:
    run = start_run(agent)

    answers = [
        agent.post(f"/runs/{run}/steps", json=step(n, tokens=int(1000 * 1.1**n))).json()
        for n in range(1, 9)
    ]

    assert [answer["decision"] for answer in answers[:5]] == ["continue"] * 5
    assert [answer["decision"] for answer in answers[5:]] == ["throttle"] * 3
    assert [answer["delay_ms"] for answer in answers[5:]] == [5000, 10_000, 20_000]
    assert answers[5]["metrics"]["budget_slope_significant"] is True
    assert answers[5]["metrics"]["budget_slope"] > 0.02
    assert agent.get(f"/runs/{run}").json()["status"] == "running"


def test_the_policy_of_the_run_decides_not_the_default(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("nervous", project=project, **{"continue": {"max_uncertainty": 0.2}})
    run = start_run(agent, policy="nervous")

    decision = agent.post(f"/runs/{run}/steps", json=step(1, uncertainty=0.3)).json()

    assert decision["decision"] == "pause"
    assert decision["policy"]["name"] == "nervous"


WRONG: dict[str, list[Any]] = {
    "number": [0, -1, 2**31, "1", 1.0, True],
    "tokens": [-1, 10**12 + 1, "1", 1.0, None],
    "tool_calls": [-1, False, []],
    "duration_ms": [-1],
    "cost_usd": [1, 0.1, "-1", "1e1", "NaN", "", "00", "01.5", "0.0000001"],
    "rework": [1, "true"],
    "checkpoint": [None],
    "coherence": [1.7, -0.1, "0.5", True],
    "uncertainty": [1.01, -1, [0.1]],
    "confidences": [[0.5] * 101, 0.5],
    "confidences.1": [[0.5, 1.5]],
    "intent": ["whatever"],
    "summary": ["x" * 4001],
    "signature": [5],
    "failed_calls": [-1],
    "decision": ["continue"],
    "at": ["0001-01-01T00:00:00Z"],
}


def test_a_figure_that_cannot_be_true_is_refused_and_counts_for_nothing(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[tuple[str, Any]] = [
        (field, value) for field, values in WRONG.items() for value in values
    ]
    for field, value in cases:
        with subtests.test(field=field, value=value):
            body = {**step(1), field.partition(".")[0]: value}

            refusal = problem(agent.post(f"/runs/{run}/steps", json=body), "invalid")

            assert field in fields(refusal)
            stored = agent.get(f"/runs/{run}").json()
            assert stored["steps"] == 0
            assert stored["head"]["seq"] == 1


def test_three_fields_are_required(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[str] = ["number", "tokens", "tool_calls"]
    for name in cases:
        with subtests.test(name=name):
            body = step(1)
            del body[name]

            refusal = problem(agent.post(f"/runs/{run}/steps", json=body), "invalid")

            assert fields(refusal) == [name]


def start_run_without_limits(agent: httpx.Client, project: Project) -> str:
    parts = ("tokens", "tool_calls", "time_ms", "cost_usd")
    make_policy("unlimited", project=project, budget=dict.fromkeys(parts))
    return start_run(agent, policy="unlimited")


def test_the_largest_figures_are_summed_without_loss(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run_without_limits(agent, project)
    most = 10**12
    for number in (1, 2, 3):
        body = step(
            number,
            tokens=most,
            tool_calls=most,
            duration_ms=most,
            cost_usd="999999999.999999",
            failed_calls=most,
        )
        assert agent.post(f"/runs/{run}/steps", json=body).status_code == 201

    budget = agent.get(f"/runs/{run}").json()["budget"]

    assert budget["tokens"]["used"] == 3 * most
    assert budget["cost_usd"]["used"] == "2999999999.999997"


def test_a_total_that_cannot_be_counted_any_more_is_refused(
    agent: httpx.Client, project: Project
) -> None:
    """The sums stay whole numbers that every reader of JSON can hold."""
    run = start_run_without_limits(agent, project)
    rich = {"cost_usd": "999999999.999999", "checkpoint": True}
    for number in range(1, 10):
        answer = agent.post(f"/runs/{run}/steps", json=step(number, **rich))
        assert answer.status_code == 201, answer.text

    refusal = agent.post(f"/runs/{run}/steps", json=step(10, **rich))

    assert fields(problem(refusal, "invalid")) == ["cost_usd"]
    plain = agent.post(f"/runs/{run}/steps", json=step(10))
    assert plain.status_code == 201
    used = agent.get(f"/runs/{run}").json()["budget"]["cost_usd"]["used"]
    assert used == "8999999999.999991"


def test_a_total_is_counted_up_to_the_last_number_that_everybody_reads_alike() -> None:
    last = 2**53 - 1
    names = ("tokens", "tool_calls", "time_ms", "cost_micros")
    refuse_uncountable(Usage(**dict.fromkeys(names, last)))
    for name, field in zip(
        names, ("tokens", "tool_calls", "duration_ms", "cost_usd"), strict=True
    ):
        with pytest.raises(Invalid) as refused:
            refuse_uncountable(Usage(**dict.fromkeys(names, last) | {name: last + 1}))
        assert [error["loc"] for error in refused.value.errors] == [[field]]
