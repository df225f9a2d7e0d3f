"""GET /runs/{run}/decision: the agent waits for a person."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from reviews.models import Review
from reviews.rulings.expiry import expire_due_reviews
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.support.builders import (
    Person,
    make_policy,
    make_project,
    make_robot,
    pause_run,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import problem
from tests.support.waiting import park, until

pytestmark = pytest.mark.once("judges steps, not SQL")


def test_nothing_ever_waited(agent: httpx.Client) -> None:
    run = start_run(agent)

    answer = agent.get(f"/runs/{run}/decision?wait=20")

    assert answer.status_code == 200
    assert answer.json() == {
        "run": run,
        "run_status": "running",
        "state": "none",
        "review": None,
        "ruling": None,
        "notes": [],
    }


def test_an_open_review_answers_open_when_the_wait_is_over(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]

    for query in ("", "?wait=0", "?wait=1", f"?wait=0&review={review['id']}"):
        body = agent.get(f"/runs/{run}/decision{query}").json()
        assert body == {
            "run": run,
            "run_status": "paused",
            "state": "open",
            "review": {"id": review["id"], "kind": "pause", "version": 1},
            "ruling": None,
            "notes": [],
        }


def test_a_ruling_is_told_with_all_its_fields_and_for_ever(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]
    rule(reviewer, review, "approve", note="go on")

    first = agent.get(f"/runs/{run}/decision?wait=20&review={review}")

    body = first.json()
    assert body["run_status"] == "running"
    assert body["state"] == "ruled"
    assert body["review"] == {"id": review, "kind": "pause", "version": 2}
    ruling = body["ruling"]
    assert list(ruling) == [
        *("id", "action", "note", "answer", "amended", "by", "at", "grant")
    ]
    assert ruling["action"] == "approve"
    assert ruling["note"] == "go on"
    assert ruling["answer"] is ruling["amended"] is ruling["grant"] is None
    assert ruling["by"] == bob.user.username
    for _ in range(2):
        agent.post(f"/runs/{run}/steps", json=step(6))
        again = agent.get(f"/runs/{run}/decision?review={review}")
        assert again.content == first.content
    assert reviewer.get(f"/reviews/{review}").json()["ruling"] == ruling


def test_without_a_review_the_newest_one_is_meant(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    first = pause_run(agent, run)["review"]["id"]
    rule(reviewer, first, "approve")
    second = pause_run(agent, run, first=6)["review"]["id"]

    assert agent.get(f"/runs/{run}/decision").json()["review"]["id"] == second
    earlier = agent.get(f"/runs/{run}/decision?review={first}").json()
    assert earlier["state"] == "ruled"
    assert earlier["run_status"] == "paused"


def test_a_ruling_wakes_whoever_waits(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]
    parked = [park(agent, run), park(agent, run, f"&review={review}")]

    rule(reviewer, review, "approve")

    for waiter in parked:
        assert waiter.result(timeout=60).json()["state"] == "ruled"


def test_an_abort_wakes_whoever_waits(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    pause_run(agent, run)
    parked = park(agent, run)

    reviewer.post(f"/runs/{run}/abort", json={})

    body = parked.result(timeout=60).json()
    assert body["state"] == "superseded"
    assert body["run_status"] == "aborted"


def test_a_withdrawal_wakes_whoever_waits(agent: httpx.Client) -> None:
    run = start_run(agent)
    asked = agent.post(f"/runs/{run}/reviews", json={"kind": "question", "title": "?"})
    parked = park(agent, run)

    agent.post(f"/reviews/{asked.json()['id']}/withdraw")

    body = parked.result(timeout=60).json()
    assert body["state"] == "withdrawn"
    assert body["run_status"] == "running"


def test_an_expiry_wakes_whoever_waits(agent: httpx.Client, project: Project) -> None:
    make_policy("hasty", project=project, reviews={"expires_after_s": 1})
    run = start_run(agent, policy="hasty")
    pause_run(agent, run)
    parked = park(agent, run)

    def is_expired() -> bool:
        expire_due_reviews()  # those that other tests left open, too
        return Review.objects.filter(run__code=run, state="expired").exists()

    until(is_expired)

    body = parked.result(timeout=60).json()
    assert body["state"] == "expired"
    assert body["run_status"] == "aborted"
    assert body["ruling"] is None


def test_a_claim_or_a_comment_is_no_answer(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]
    parked = park(agent, run)

    reviewer.post(f"/reviews/{review}/claim")
    reviewer.post(f"/reviews/{review}/comments", json={"text": "hm"})
    assert agent.get(f"/runs/{run}/decision").json()["state"] == "open"
    assert not parked.done()

    rule(reviewer, review, "approve")
    assert parked.result(timeout=60).json()["state"] == "ruled"


def test_a_wait_outside_0_to_55_whole_seconds_is_refused(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[str] = ["56", "-1", "1.5", "", "x", "999", "+5", "%20", "1e1", "\uff10"]
    for wait in cases:
        with subtests.test(wait=wait):
            problem(agent.get(f"/runs/{run}/decision?wait={wait}"), "invalid")


def test_a_parameter_that_is_not_known_is_refused(agent: httpx.Client) -> None:
    run = start_run(agent)

    problem(agent.get(f"/runs/{run}/decision?timeout=5"), "invalid")


def test_a_review_of_another_run_is_not_found(agent: httpx.Client, live: Live) -> None:
    run, other = start_run(agent), start_run(agent)
    review = pause_run(agent, other)["review"]["id"]
    with client_for(live, make_robot(project=make_project())) as stranger:
        theirs = pause_run(stranger, start_run(stranger))["review"]["id"]

    answers = [
        agent.get(f"/runs/{run}/decision?wait=20&review={code}")
        for code in (review, theirs, "01900000-0000-7000-8000-000000000000", "x")
    ]

    for answer in answers:
        problem(answer, "not-found")
        assert answer.content == answers[0].content


def test_a_ruling_on_one_call_is_no_answer_about_another(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    first, second = (
        command(agent, run, f"rm -rf {name}")["review"]["id"] for name in ("a", "b")
    )
    parked = park(agent, run, f"&review={second}")

    rule(reviewer, first, "approve")
    rule(reviewer, second, "deny")

    body = parked.result(timeout=60).json()
    assert (body["review"]["id"], body["ruling"]["action"]) == (second, "deny")
