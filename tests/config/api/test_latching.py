"""The continue gate over HTTP: what latches, what a ruling forgives, what it does not."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.builders import pause_run, start_run, step
from tests.support.people import rule
from tests.support.problems import problem

pytestmark = pytest.mark.once("judges steps, not SQL")


def report(client: httpx.Client, run: str, number: int, **more: Any) -> dict[str, Any]:
    answer = client.post(f"/runs/{run}/steps", json=step(number, **more))
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_run_at_90_percent_rework_is_paused_and_stays_so(
    agent: httpx.Client,
) -> None:
    """CG-44: a hundred fast steps; whatever is not taken is refused, none is lost."""
    run = start_run(agent)
    accepted, refused = [], 0
    for number in range(1, 101):
        body = step(number, rework=number % 10 != 0)
        answer = agent.post(f"/runs/{run}/steps", json=body)
        if answer.status_code == 201:
            accepted.append(answer.json()["decision"])
        else:
            problem(answer, "run-paused")
            refused += 1

    assert accepted == ["continue"] * 4 + ["pause"]
    assert refused == 95
    assert agent.get(f"/runs/{run}").json()["steps"] == 5


def test_a_score_that_is_none_is_refused_never_taken_for_good(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    """CG-45."""
    run = start_run(agent)
    cases: list[str] = ["NaN", "1.5", '"0.9"', "1e999"]
    for text in cases:
        with subtests.test(text=text):
            raw = f'{{"number": 1, "tokens": 1, "tool_calls": 1, "coherence": {text}}}'

            answer = agent.post(
                f"/runs/{run}/steps",
                content=raw,
                headers={"Content-Type": "application/json"},
            )

            problem(answer, "invalid" if text in {"1.5", '"0.9"'} else "malformed")
            assert agent.get(f"/runs/{run}").json()["steps"] == 0


def test_a_stop_holds_whatever_the_next_scores_are(agent: httpx.Client) -> None:
    """CG-46."""
    run = start_run(agent)
    assert report(agent, run, 1, coherence=0.1)["decision"] == "stop"

    for number in (2, 3):
        answer = agent.post(f"/runs/{run}/steps", json=step(number, coherence=1.0))
        problem(answer, "run-closed")


def test_a_checkpoint_beyond_the_current_step_is_refused(agent: httpx.Client) -> None:
    """CG-47."""
    run = start_run(agent)
    report(agent, run, 1)

    problem(agent.post(f"/runs/{run}/checkpoints", json={"step": 2}), "invalid")


def test_two_interleaved_runs_are_judged_as_if_alone(agent: httpx.Client) -> None:
    """CG-48."""
    rising = [{"tokens": int(1000 * 1.1**n)} for n in range(6)]
    wavering = [{"rework": n % 2 == 0, "uncertainty": 0.1 * n} for n in range(5)]

    def alone(steps: list[dict[str, Any]]) -> list[Any]:
        run = start_run(agent)
        return [strip(report(agent, run, n, **more)) for n, more in enumerate(steps, 1)]

    def strip(decision: dict[str, Any]) -> Any:
        names = ("decision", "findings", "metrics", "delay_ms")
        del decision["metrics"]["budget_remaining"]["time_ms"]  # it passes
        return [decision[name] for name in names]

    expected = alone(rising), alone(wavering)
    first, second = start_run(agent), start_run(agent)
    together: tuple[list[Any], list[Any]] = ([], [])
    for n in range(6):
        together[0].append(strip(report(agent, first, n + 1, **rising[n])))
        if n < len(wavering):
            together[1].append(strip(report(agent, second, n + 1, **wavering[n])))

    assert together == expected


def test_an_approval_forgives_the_rework_but_not_the_totals(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]
    rule(reviewer, review, "approve")

    later = [report(agent, run, number, rework=True) for number in range(6, 11)]

    assert [decision["decision"] for decision in later] == ["continue"] * 4 + ["pause"]
    assert later[0]["metrics"]["rework_ratio_total"] == 1.0
    assert later[0]["metrics"]["steps_since_checkpoint"] == 6
    assert later[0]["metrics"]["budget_remaining"]["tokens"] == 994_000


def test_an_approval_forgives_repetition_and_slope(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    for number in (1, 2):
        report(agent, run, number, signature="ls")
    paused = report(agent, run, 3, signature="ls")
    assert [finding["gate"] for finding in paused["findings"]] == ["repetition"]
    rule(reviewer, paused["review"]["id"], "approve")

    assert report(agent, run, 4, signature="ls")["decision"] == "continue"
    assert report(agent, run, 5, signature="ls")["decision"] == "continue"
    assert report(agent, run, 6, signature="ls")["decision"] == "pause"


def test_an_approval_does_not_reset_the_step_limit(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    for first in range(1, 91, 30):
        steps = [step(n, tokens=1) for n in range(first, first + 30)]
        agent.post(f"/runs/{run}/steps/batch", json={"steps": steps})
    paused = report(agent, run, 91, uncertainty=0.9, tokens=1)
    assert paused["decision"] == "pause"
    assert paused["checkpoint_due"] is True
    rule(reviewer, paused["review"]["id"], "approve")

    for number in range(92, 100):
        assert report(agent, run, number, tokens=1)["decision"] == "checkpoint"
    assert report(agent, run, 100, tokens=1)["decision"] == "stop"
