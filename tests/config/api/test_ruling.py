"""POST /reviews/{review}/ruling: what was read is what is ruled on, once."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.builders import Person, pause_run, start_run, step
from tests.support.people import get_seen, rule
from tests.support.problems import fields, problem


@pytest.fixture
def run(agent: httpx.Client) -> str:
    return start_run(agent)


@pytest.fixture
def review(agent: httpx.Client, run: str) -> str:
    """An open review of kind pause."""
    code: str = pause_run(agent, run)["review"]["id"]
    return code


def send(client: httpx.Client, review: str, body: dict[str, Any]) -> httpx.Response:
    return client.post(f"/reviews/{review}/ruling", json=body)


def test_an_approval_lets_the_run_go_on(
    agent: httpx.Client, reviewer: httpx.Client, run: str, review: str, bob: Person
) -> None:
    body = rule(reviewer, review, "approve", note="fine")

    assert body["state"] == "ruled"
    assert body["version"] == 2
    assert body["rulings"] == []
    assert body["ruling"]["by"] == bob.user.username
    assert body["closed_at"] == body["ruling"]["at"]
    stored = agent.get(f"/runs/{run}").json()
    assert stored["status"] == "running"
    assert stored["status_reason"] is None
    assert stored["open_reviews"] == []
    assert agent.post(f"/runs/{run}/steps", json=step(6)).status_code == 201


def test_an_abort_ends_the_run(
    agent: httpx.Client, reviewer: httpx.Client, run: str, review: str
) -> None:
    rule(reviewer, review, "abort", note="not like this")

    stored = agent.get(f"/runs/{run}").json()
    assert stored["status"] == "aborted"
    assert stored["status_reason"] == "not like this"
    assert agent.get(f"/runs/{run}/decision").json()["ruling"]["action"] == "abort"


def test_a_second_ruling_is_told_the_first(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, review: str
) -> None:
    body = {"action": "abort", **get_seen(manager, review)}
    winner = rule(reviewer, review, "approve", note="mine")["ruling"]

    for client in (manager, reviewer):
        refusal = problem(send(client, review, body), "already-ruled")
        assert refusal["ruling"] == winner


def test_a_ruling_on_something_else_than_was_shown_is_refused(
    agent: httpx.Client,
    reviewer: httpx.Client,
    run: str,
    review: str,
    subtests: pytest.Subtests,
) -> None:
    cases: list[dict[str, Any]] = [
        {"version": 2},
        {"content_digest": "sha256:" + "0" * 64},
        {"content_digest": ""},
        {"version": 7, "content_digest": "x"},
    ]
    for wrong in cases:
        with subtests.test(wrong=wrong):
            shown = get_seen(reviewer, review)

            refusal = problem(
                send(reviewer, review, {"action": "approve", **shown, **wrong}),
                "stale-version",
            )

            assert refusal["version"] == shown["version"]
            assert refusal["content_digest"] == shown["content_digest"]
            assert agent.get(f"/runs/{run}").json()["status"] == "paused"


def test_the_digest_of_another_review_is_refused(
    agent: httpx.Client, reviewer: httpx.Client, review: str
) -> None:
    other = pause_run(agent, start_run(agent), first=1)["review"]["id"]
    third = agent.post(
        f"/runs/{start_run(agent)}/reviews", json={"kind": "request", "title": "x"}
    ).json()["id"]
    for code in (other, third):
        shown = get_seen(reviewer, code)
        if shown["content_digest"] != get_seen(reviewer, review)["content_digest"]:
            body = {"action": "approve", **shown}
            problem(send(reviewer, review, body), "stale-version")


def test_a_ruling_without_what_was_read_is_refused(
    reviewer: httpx.Client, review: str, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["version", "content_digest"]
    for missing in cases:
        with subtests.test(missing=missing):
            body = {"action": "approve", **get_seen(reviewer, review)}
            del body[missing]

            problem(send(reviewer, review, body), "precondition-required")
            problem(
                send(reviewer, review, {**body, missing: None}), "precondition-required"
            )


def test_an_action_that_the_kind_does_not_know_is_refused(
    agent: httpx.Client,
    reviewer: httpx.Client,
    run: str,
    review: str,
    subtests: pytest.Subtests,
) -> None:
    cases: list[str] = [
        "deny",
        "answer",
        "retry",
        "skip",
        "amend",
        "",
        "Approve",
        "unknown",
    ]
    for action in cases:
        with subtests.test(action=action):
            body = {"action": action, **get_seen(reviewer, review)}

            refusal = problem(send(reviewer, review, body), "invalid")

            assert fields(refusal) == ["action"]
            assert agent.get(f"/runs/{run}").json()["status"] == "paused"


def test_a_ruling_with_a_wrong_field_is_refused(
    agent: httpx.Client,
    reviewer: httpx.Client,
    run: str,
    review: str,
    subtests: pytest.Subtests,
) -> None:
    cases: list[dict[str, Any]] = [
        {"note": 1},
        {"note": "x" * 20_001},
        {"answer": "yes"},
        {"amended": {"x": 1}},
        {"version": "1"},
        {"version": True},
        {"by": "alice"},
    ]
    for more in cases:
        with subtests.test(more=more):
            body = {"action": "approve", **get_seen(reviewer, review), **more}

            refusal = problem(send(reviewer, review, body), "invalid")

            assert fields(refusal) == list(more)
            assert agent.get(f"/runs/{run}").json()["status"] == "paused"


def test_a_ruling_on_a_superseded_review_is_refused(
    reviewer: httpx.Client, run: str, review: str
) -> None:
    body = {"action": "approve", **get_seen(reviewer, review)}
    reviewer.post(f"/runs/{run}/abort", json={})

    refusal = problem(send(reviewer, review, body), "already-ruled")

    assert refusal["state"] == "superseded"
    assert refusal["ruling"] is None
