"""POST /runs/{run}/steps/batch: in order, up to the first pause or stop."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.builders import start_run, step
from tests.support.problems import fields, problem


def send(client: httpx.Client, run: str, steps: list[dict[str, Any]]) -> httpx.Response:
    return client.post(f"/runs/{run}/steps/batch", json={"steps": steps})


def test_a_batch_is_judged_like_its_steps_one_by_one(agent: httpx.Client) -> None:
    alone, together = start_run(agent), start_run(agent)
    steps = [step(n, tokens=int(1000 * 1.1**n)) for n in range(1, 7)]

    sent = send(agent, together, steps)

    body = sent.json()
    assert sent.status_code == 200
    assert list(body) == ["decisions", "accepted"]
    assert body["accepted"] == 6
    one_by_one = [agent.post(f"/runs/{alone}/steps", json=s).json() for s in steps]
    for single, batched in zip(one_by_one, body["decisions"], strict=True):
        # Time passes between the single ones.
        for answer in (single, batched):
            del answer["metrics"]["budget_remaining"]["time_ms"]
        for name in ("step", "decision", "delay_ms", "findings", "metrics"):
            assert single[name] == batched[name]
        assert single["receipt"]["seq"] == batched["receipt"]["seq"]


def test_a_batch_ends_at_the_first_pause(agent: httpx.Client) -> None:
    run = start_run(agent)

    body = send(agent, run, [step(n, rework=True) for n in range(1, 11)]).json()

    assert body["accepted"] == len(body["decisions"]) == 5
    assert body["decisions"][-1]["decision"] == "pause"
    assert body["decisions"][-1]["review"]["kind"] == "pause"
    assert agent.get(f"/runs/{run}").json()["last_step"] == 5


def test_a_batch_ends_at_the_first_stop(agent: httpx.Client) -> None:
    run = start_run(agent)

    body = send(agent, run, [step(1), step(2, coherence=0.1), step(3)]).json()

    assert [decision["decision"] for decision in body["decisions"]] == [
        "continue",
        "stop",
    ]
    assert agent.get(f"/runs/{run}").json()["status"] == "stopped"


def test_a_batch_sent_again_is_answered_again_and_counted_once(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    steps = [step(n, rework=True) for n in range(1, 11)]
    first = send(agent, run, steps)

    again = send(agent, run, steps)

    assert again.status_code == 200
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()
    assert agent.get(f"/runs/{run}").json()["steps"] == 5


def test_a_batch_may_begin_with_steps_that_are_stored(agent: httpx.Client) -> None:
    run = start_run(agent)
    first = send(agent, run, [step(1), step(2)]).json()

    answer = send(agent, run, [step(n) for n in range(1, 5)])

    assert answer.json()["accepted"] == 4
    assert answer.json()["decisions"][:2] == first["decisions"]
    assert "idempotency-replayed" not in answer.headers
    assert agent.get(f"/runs/{run}").json()["steps"] == 4


def test_a_batch_that_contradicts_a_stored_step_stores_nothing(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    send(agent, run, [step(1), step(2)])

    problem(send(agent, run, [step(1), step(2, tokens=9), step(3)]), "step-conflict")

    assert agent.get(f"/runs/{run}").json()["steps"] == 2


def test_numbers_of_a_batch_are_consecutive(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[list[int]] = [[1, 3], [1, 1], [2, 1]]
    for numbers in cases:
        with subtests.test(numbers=numbers):
            refusal = problem(send(agent, run, [step(n) for n in numbers]), "invalid")

            assert fields(refusal) == ["steps"]
            assert agent.get(f"/runs/{run}").json()["steps"] == 0


def test_a_batch_that_begins_too_late_names_the_expected_step(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)

    refusal = problem(send(agent, run, [step(2), step(3)]), "step-out-of-order")

    assert refusal["expected"] == 1


def test_a_batch_holds_1_to_100_steps(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[Any] = [[], [step(n) for n in range(1, 102)], None, {}]
    for steps in cases:
        with subtests.test(steps=steps):
            problem(send(agent, run, steps), "invalid")


def test_one_wrong_step_refuses_the_whole_batch(agent: httpx.Client) -> None:
    run = start_run(agent)

    refusal = problem(send(agent, run, [step(1), step(2, tokens=-1)]), "invalid")

    assert fields(refusal) == ["steps.1.tokens"]
    assert agent.get(f"/runs/{run}").json()["steps"] == 0


def test_a_batch_on_a_closed_run_is_refused(agent: httpx.Client) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})

    refusal = problem(send(agent, run, [step(1), step(2)]), "run-closed")

    assert refusal["run_status"] == "completed"
