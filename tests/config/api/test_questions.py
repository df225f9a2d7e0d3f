"""POST /runs/{run}/reviews: the agent asks in its own words, and may withdraw."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from tests.support.builders import make_policy, pause_run, start_run, step
from tests.support.people import get_seen, rule
from tests.support.problems import fields, problem

pytestmark = pytest.mark.once("forms of questions, not SQL")


def ask(client: httpx.Client, run: str, kind: str, **more: Any) -> dict[str, Any]:
    body = {"kind": kind, "title": "May I?", **more}
    answer = client.post(f"/runs/{run}/reviews", json=body)
    assert answer.status_code == 201, answer.text
    review: dict[str, Any] = answer.json()
    return review


def test_a_question_pauses_the_run_and_its_answer_comes_back(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = ask(agent, run, "question", detail="Blue or red?", options=["b", "r"])

    assert review["kind"] == "question"
    assert review["state"] == "open"
    assert review["content"]["detail"] == "Blue or red?"
    assert review["content"]["options"] == ["b", "r"]
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"
    shown = reviewer.get(f"/reviews/{review['id']}").json()
    assert shown["rulings"] == ["answer", "abort"]

    rule(reviewer, review["id"], "answer", answer="b")

    decision = agent.get(f"/runs/{run}/decision").json()
    assert decision["run_status"] == "running"
    assert decision["ruling"]["action"] == "answer"
    assert decision["ruling"]["answer"] == "b"


def test_an_agent_cannot_put_its_own_question_above_all(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    asked = ask(agent, run, "question", severity="critical")
    assert asked["severity"] == "high"
    highest = {"reviews": {"severity": {"asked_at_most": "critical"}}}
    make_policy("trusting", project=project, **highest)
    other = start_run(agent, policy="trusting")
    assert ask(agent, other, "request", severity="critical")["severity"] == "critical"
    assert ask(agent, start_run(agent), "request")["severity"] == "medium"


@pytest.mark.parametrize(
    ("action", "status"),
    [("approve", "running"), ("deny", "running"), ("abort", "aborted")],
)
def test_a_request_is_approved_denied_or_aborted(
    agent: httpx.Client, reviewer: httpx.Client, action: str, status: str
) -> None:
    run = start_run(agent)
    review = ask(agent, run, "request")
    assert reviewer.get(f"/reviews/{review['id']}").json()["rulings"] == [
        *("approve", "deny", "abort")
    ]

    rule(reviewer, review["id"], action)

    decision = agent.get(f"/runs/{run}/decision").json()
    assert decision["run_status"] == status
    assert decision["ruling"]["action"] == action


def test_an_answer_has_words(
    agent: httpx.Client, reviewer: httpx.Client, subtests: pytest.Subtests
) -> None:
    review = ask(agent, start_run(agent), "question")["id"]
    cases: list[str | None] = [None, "", "  \n"]
    for answer in cases:
        with subtests.test(answer=answer):
            body = {"action": "answer", **get_seen(reviewer, review), "answer": answer}

            refusal = problem(
                reviewer.post(f"/reviews/{review}/ruling", json=body), "invalid"
            )

            assert fields(refusal) == ["answer"]


def test_a_request_does_not_start_a_new_segment(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """Only an approved pause forgives rework: an agent cannot ask its way out."""
    run = start_run(agent)
    for number in range(1, 5):
        agent.post(f"/runs/{run}/steps", json=step(number, rework=True))

    rule(reviewer, ask(agent, run, "request")["id"], "approve")

    decision = agent.post(f"/runs/{run}/steps", json=step(5, rework=True)).json()
    assert decision["decision"] == "pause"


def test_a_withdrawn_question_lets_the_run_go_on(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = ask(agent, run, "question")["id"]
    body = {"action": "answer", "answer": "x", **get_seen(reviewer, review)}

    withdrawn = agent.post(f"/reviews/{review}/withdraw")

    assert withdrawn.status_code == 200
    assert withdrawn.json()["state"] == "withdrawn"
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
    refusal = problem(
        reviewer.post(f"/reviews/{review}/ruling", json=body), "already-ruled"
    )
    assert refusal["state"] == "withdrawn"


def test_a_review_is_withdrawn_once_and_not_after_its_ruling(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    first = ask(agent, run, "question")["id"]
    agent.post(f"/reviews/{first}/withdraw")
    second = ask(agent, run, "request")["id"]
    rule(reviewer, second, "deny")

    for review in (first, second):
        problem(agent.post(f"/reviews/{review}/withdraw"), "already-ruled")
    assert reviewer.get(f"/reviews/{second}").json()["state"] == "ruled"


def test_what_a_gate_asked_is_not_the_agents_to_withdraw(agent: httpx.Client) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]

    problem(agent.post(f"/reviews/{review}/withdraw"), "forbidden")

    assert agent.get(f"/runs/{run}").json()["status"] == "paused"


def test_a_run_asks_one_thing_at_a_time(agent: httpx.Client) -> None:
    run = start_run(agent)
    review = ask(agent, run, "question")["id"]

    again = agent.post(f"/runs/{run}/reviews", json={"kind": "request", "title": "x"})

    assert problem(again, "run-paused")["review"]["id"] == review


def test_a_wrong_question_is_refused(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "kind"),
        ({"kind": "pause", "title": "x"}, "kind"),
        ({"kind": "confirmation", "title": "x"}, "kind"),
        ({"kind": "question"}, "title"),
        ({"kind": "question", "title": ""}, "title"),
        ({"kind": "question", "title": "x" * 301}, "title"),
        ({"kind": "question", "title": "x", "options": "a"}, "options"),
        ({"kind": "question", "title": "x", "options": ["a"] * 21}, "options"),
        ({"kind": "question", "title": "x", "ruling": "approve"}, "ruling"),
    ]
    for body, field in cases:
        with subtests.test(body=body, field=field):
            answer = agent.post(f"/runs/{run}/reviews", json=body)

            assert field in fields(problem(answer, "invalid"))
            assert agent.get(f"/runs/{run}").json()["status"] == "running"
