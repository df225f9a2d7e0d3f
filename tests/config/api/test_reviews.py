"""GET /reviews and what people do to one beside ruling: claim, release, comment."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from accounts.models import Project, Role
from guidance.core.canonical import hash_text, to_canonical_json
from tests.conftest import client_for
from tests.support.builders import (
    Person,
    make_person,
    make_project,
    make_robot,
    pause_run,
    start_run,
)
from tests.support.live import Live
from tests.support.people import get_seen, rule
from tests.support.problems import fields, problem

REVIEW_FIELDS = {
    *("id", "run", "project", "agent", "kind", "state", "title", "step", "content"),
    *("content_digest", "version", "rulings", "assignee", "opened_at", "due_at"),
    *("severity", "reversibility", "answer_by", "approvals"),
    *("claimed_until", "snoozed_until", "snoozed_for"),
    *("on_expiry", "closed_at", "ruling", "waiting", "url"),
}


@pytest.fixture
def review(agent: httpx.Client) -> str:
    code: str = pause_run(agent, start_run(agent))["review"]["id"]
    return code


@pytest.fixture
def colleague(live: Live, project: Project) -> Iterator[httpx.Client]:
    """A second reviewer."""
    person = make_person("dora", role=Role.REVIEWER, project=project)
    with client_for(live, person) as client:
        yield client


def ids(client: httpx.Client, query: str = "") -> list[str]:
    answer = client.get(f"/reviews{query}")
    assert answer.status_code == 200, answer.text
    return [review["id"] for review in answer.json()["items"]]


def test_a_review_shows_all_that_is_needed_to_rule(
    agent: httpx.Client, reviewer: httpx.Client, review: str
) -> None:
    body = reviewer.get(f"/reviews/{review}").json()

    changed = {"amended", "amended_findings"}
    assert set(body) == {
        *REVIEW_FIELDS,
        "allowance",
        "approved_by",
        *changed,
        "history",
    }
    assert body["kind"] == "pause"
    assert body["state"] == "open"
    assert body["step"] == 5
    assert body["version"] == 1
    assert body["rulings"] == ["approve", "abort"]
    assert body["content_digest"] == hash_text(to_canonical_json(body["content"]))
    assert body["content"]["step"]["number"] == 5
    assert body["content"]["decision"]["decision"] == "pause"
    assert body["title"] == body["content"]["decision"]["findings"][0]["message"]
    assert body["on_expiry"] == "abort"
    assert body["due_at"] > body["opened_at"]
    assert [item["type"] for item in body["history"]] == ["review.opened"]
    listed = reviewer.get("/reviews?state=open").json()["items"][0]
    assert listed == {name: body[name] for name in REVIEW_FIELDS}


def test_every_filter_narrows_the_queue(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    first, second = start_run(agent), start_run(agent)
    pause = pause_run(agent, first)["review"]["id"]
    question = agent.post(
        f"/runs/{second}/reviews", json={"kind": "question", "title": "?"}
    ).json()["id"]
    reviewer.post(f"/reviews/{question}/claim")

    assert ids(reviewer) == [question, pause]
    assert ids(reviewer, "?kind=pause") == [pause]
    assert ids(reviewer, f"?run={second}") == [question]
    assert ids(reviewer, "?run=nothing") == []
    assert ids(reviewer, f"?assignee={bob.user.username}") == [question]
    rule(reviewer, pause, "approve")
    assert ids(reviewer, "?state=open") == [question]
    assert ids(reviewer, "?state=ruled") == [pause]


def test_pages_follow_each_other_while_reviews_are_ruled(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    reviews = [pause_run(agent, start_run(agent))["review"]["id"] for _ in range(3)]

    page = reviewer.get("/reviews?state=open&limit=1").json()
    rule(reviewer, reviews[2], "approve")

    follows = ids(reviewer, f"?state=open&cursor={page['next_cursor']}")
    assert follows == [reviews[1], reviews[0]]


def test_a_query_that_means_nothing_is_refused(
    reviewer: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str]] = [
        ("state=closed", "state"),
        ("kind=other", "kind"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("cursor=x", "cursor"),
        ("sort=due_at", "sort"),
        ("status=open", "status"),
    ]
    for query, field in cases:
        with subtests.test(query=query, field=field):
            refusal = problem(reviewer.get(f"/reviews?{query}"), "invalid")

            assert fields(refusal) == [f"query.{field}"]


def test_a_person_of_two_projects_sees_both_queues_and_no_third(
    live: Live, agent: httpx.Client, project: Project, review: str, bob: Person
) -> None:
    elsewhere = make_project()
    person = make_person("erin", role=Role.REVIEWER, project=elsewhere)
    with client_for(live, make_robot(project=elsewhere)) as robot:
        theirs = pause_run(robot, start_run(robot))["review"]["id"]
    with client_for(live, person) as erin, client_for(live, bob) as insider:
        assert ids(erin) == [theirs]
        assert ids(insider) == [review]
        person.user.membership_set.create(project=project, role=Role.REVIEWER)
        assert ids(erin) == [theirs, review]
        person.user.membership_set.filter(project=project).delete()
        problem(erin.get(f"/reviews/{review}"), "not-found")


def test_a_claim_tells_who_looks_and_locks_nobody_out(
    reviewer: httpx.Client, colleague: httpx.Client, review: str, bob: Person
) -> None:
    claimed = reviewer.post(f"/reviews/{review}/claim")

    assert claimed.status_code == 200
    assert claimed.json()["assignee"] == bob.user.username
    assert claimed.json()["version"] == 1
    assert rule(colleague, review, "approve")["state"] == "ruled"


def test_a_claim_is_released_by_its_claimer_or_a_manager(
    reviewer: httpx.Client, colleague: httpx.Client, manager: httpx.Client, review: str
) -> None:
    reviewer.post(f"/reviews/{review}/claim")
    problem(colleague.post(f"/reviews/{review}/release"), "forbidden")

    assert manager.post(f"/reviews/{review}/release").json()["assignee"] is None
    reviewer.post(f"/reviews/{review}/claim")
    assert reviewer.post(f"/reviews/{review}/release").json()["assignee"] is None


def test_what_was_done_stands_in_the_history(
    reviewer: httpx.Client, review: str, bob: Person
) -> None:
    reviewer.post(f"/reviews/{review}/claim")
    commented = reviewer.post(f"/reviews/{review}/comments", json={"text": "Why?"})
    reviewer.post(f"/reviews/{review}/release")
    rule(reviewer, review, "abort", note="no")
    after = reviewer.post(f"/reviews/{review}/comments", json={"text": "Sorry."})

    assert commented.status_code == after.status_code == 201
    history = reviewer.get(f"/reviews/{review}").json()["history"]
    assert [item["type"].removeprefix("review.") for item in history] == [
        *("opened", "claimed", "commented", "released", "ruled", "commented")
    ]
    assert [item["text"] for item in history] == [
        *(None, None, "Why?", None, "no", "Sorry.")
    ]
    assert {item["actor"] for item in history[1:]} == {f"user:{bob.user.code}"}


def test_a_closed_review_is_neither_claimed_nor_released(
    reviewer: httpx.Client, review: str
) -> None:
    reviewer.post(f"/reviews/{review}/claim")
    winner = rule(reviewer, review, "approve")["ruling"]

    for act in ("claim", "release"):
        refusal = problem(reviewer.post(f"/reviews/{review}/{act}"), "already-ruled")
        assert refusal["ruling"] == winner


def test_a_comment_has_words(
    reviewer: httpx.Client, review: str, subtests: pytest.Subtests
) -> None:
    cases: list[object] = ["", 1, None, "x" * 20_001]
    for text in cases:
        with subtests.test(text=text):
            refusal = problem(
                reviewer.post(f"/reviews/{review}/comments", json={"text": text}),
                "invalid",
            )

            assert fields(refusal) == ["text"]


def test_a_claim_does_not_change_what_was_read(
    reviewer: httpx.Client, colleague: httpx.Client, review: str
) -> None:
    body = {"action": "approve", **get_seen(reviewer, review)}
    colleague.post(f"/reviews/{review}/claim")
    colleague.post(f"/reviews/{review}/comments", json={"text": "hm"})

    assert reviewer.post(f"/reviews/{review}/ruling", json=body).status_code == 200
