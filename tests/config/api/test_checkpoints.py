"""POST /runs/{run}/checkpoints and the latest one."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.builders import pause_run, start_run, step
from tests.support.problems import fields, problem

pytestmark = pytest.mark.once("forms of requests; the same writer stores them")


def steps(client: httpx.Client, run: str, *, upto: int) -> dict[str, Any]:
    body = {"steps": [step(n) for n in range(1, upto + 1)]}
    last: dict[str, Any] = client.post(f"/runs/{run}/steps/batch", json=body).json()[
        "decisions"
    ][-1]
    return last


def test_a_checkpoint_is_saved_and_read_back(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    steps(agent, run, upto=3)
    state = {"files": ["a.py"], "n": {"é": [1, 2.5, None, True]}}

    saved = agent.post(
        f"/runs/{run}/checkpoints",
        json={"step": 3, "label": "before migration", "state": state},
    )

    body = saved.json()
    assert saved.status_code == 201
    assert body["run"] == run
    assert body["step"] == 3
    assert body["label"] == "before migration"
    assert body["state"] == state
    assert body["receipt"]["seq"] == 5
    latest = agent.get(f"/runs/{run}/checkpoints/latest")
    assert latest.json() == {k: v for k, v in body.items() if k != "receipt"}
    assert reviewer.get(f"/runs/{run}/checkpoints/latest").content == latest.content
    assert agent.get(f"/runs/{run}").json()["last_checkpoint_step"] == 3


def test_a_checkpoint_moves_the_count_to_the_next_one(agent: httpx.Client) -> None:
    run = start_run(agent)
    assert steps(agent, run, upto=25)["decision"] == "checkpoint"
    agent.post(f"/runs/{run}/checkpoints", json={"step": 25})

    decision = agent.post(f"/runs/{run}/steps", json=step(26)).json()

    assert decision["decision"] == "continue"
    assert decision["metrics"]["steps_since_checkpoint"] == 1


def test_an_older_checkpoint_does_not_move_the_count_back(agent: httpx.Client) -> None:
    run = start_run(agent)
    steps(agent, run, upto=4)
    agent.post(f"/runs/{run}/checkpoints", json={"step": 4})
    agent.post(f"/runs/{run}/checkpoints", json={"step": 2, "label": "late"})

    assert agent.get(f"/runs/{run}").json()["last_checkpoint_step"] == 4
    assert agent.get(f"/runs/{run}/checkpoints/latest").json()["label"] == "late"


def test_a_checkpoint_beyond_the_last_step_is_refused(agent: httpx.Client) -> None:
    run = start_run(agent)
    steps(agent, run, upto=2)

    refusal = problem(
        agent.post(f"/runs/{run}/checkpoints", json={"step": 3}), "invalid"
    )

    assert fields(refusal) == ["step"]
    assert agent.get(f"/runs/{run}").json()["head"]["seq"] == 3


def test_a_state_holds_64_kib_and_no_more(agent: httpx.Client) -> None:
    run = start_run(agent)
    empty = len('{"a":""}')
    for size, status in ((64 * 1024 - empty, 201), (64 * 1024 - empty + 1, 422)):
        answer = agent.post(
            f"/runs/{run}/checkpoints", json={"step": 0, "state": {"a": "x" * size}}
        )
        assert answer.status_code == status, answer.text
    # Bytes are counted, not characters.
    wide = {"step": 0, "state": {"a": "é" * 40_000}}
    problem(agent.post(f"/runs/{run}/checkpoints", json=wide), "invalid")


def test_a_wrong_checkpoint_is_refused(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "step"),
        ({"step": -1}, "step"),
        ({"step": "0"}, "step"),
        ({"step": 0, "state": []}, "state"),
        ({"step": 0, "state": "x"}, "state"),
        ({"step": 0, "label": "x" * 201}, "label"),
        ({"step": 0, "more": 1}, "more"),
    ]
    for body, field in cases:
        with subtests.test(body=body, field=field):
            answer = agent.post(f"/runs/{run}/checkpoints", json=body)

            assert fields(problem(answer, "invalid")) == [field]


def test_a_run_without_checkpoints_has_no_latest_one(agent: httpx.Client) -> None:
    run = start_run(agent)

    problem(agent.get(f"/runs/{run}/checkpoints/latest"), "not-found")


def test_a_paused_run_may_save_and_a_finished_one_may_not(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    pause_run(agent, run)

    saved = agent.post(f"/runs/{run}/checkpoints", json={"step": 5})
    assert saved.status_code == 201
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"

    reviewer.post(f"/runs/{run}/abort", json={})
    problem(agent.post(f"/runs/{run}/checkpoints", json={"step": 5}), "run-closed")


def test_a_state_comes_back_figure_by_figure(agent: httpx.Client) -> None:
    run = start_run(agent)
    state = {"z": 1e308, "a": 1.5e-300, "m": 1.0, "k": 2**53 - 1, "n": 1e22, "": None}

    saved = agent.post(f"/runs/{run}/checkpoints", json={"step": 0, "state": state})
    latest = agent.get(f"/runs/{run}/checkpoints/latest")

    assert repr(saved.json()["state"]) == repr(state)
    assert repr(latest.json()["state"]) == repr(state)
