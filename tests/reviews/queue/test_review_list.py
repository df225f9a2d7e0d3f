"""`GET /reviews`: every filter, every order page by page, and the total of the same question."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from ledger.run_list.scope import Scope
from reviews.models import Review
from reviews.queue.filters import ReviewFilter
from reviews.queue.review_list import list_review_page
from tests.conftest import client_for
from tests.reviews.floods import ask_to_run, open_many
from tests.support.builders import Person, make_policy, pause_at_once, start_run
from tests.support.live import Live
from tests.support.people import claim, rule


def list_ids(client: httpx.Client, query: str) -> list[str]:
    page = client.get(f"/reviews?{query}")
    assert page.status_code == 200, page.text
    items = [item["id"] for item in page.json()["items"]]
    assert page.json()["total"] == len(items)
    return items


@pytest.fixture
def opened(agent: httpx.Client, bob: Person, reviewer: httpx.Client) -> dict[str, str]:
    """By a word each: what is open, and one that was ruled on."""
    shop = start_run(agent, task="Tidy the cellar", labels={"repo": "shop"})
    reviews = {
        "push": ask_to_run(agent, "git push --force origin main"),
        "drop": ask_to_run(agent, "dropdb production"),
        "pause": pause_at_once(agent, shop),
        "ruled": ask_to_run(agent, "rm -rf old"),
    }
    asked = agent.post(
        f"/runs/{start_run(agent)}/reviews",
        json={"kind": "question", "title": "Which branch?"},
    )
    reviews["question"] = asked.json()["id"]
    claim(reviews["push"], bob)
    rule(reviewer, reviews["ruled"], "deny")
    late = timezone.now() - timedelta(minutes=1)
    Review.objects.filter(code=reviews["pause"]).update(answer_by=late)
    return reviews


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("state=open&kind=confirmation&kind=question", {"push", "drop", "question"}),
        ("severity=critical&severity=low", {"drop", "question"}),
        ("state=open&severity=high", {"push"}),
        ("label=repo:shop", {"pause"}),
        ("label=repo:other", set()),
        ("state=open&claimed=false", {"drop", "pause", "question"}),
        ("claimed=true", {"push"}),
        ("overdue=true", {"pause"}),
        ("overdue=false&state=open", {"push", "drop", "question"}),
        ("q=force", {"push"}),
        ("q=cellar", {"pause"}),
        ("q=branch&kind=question", {"question"}),
        ("state=ruled", {"ruled"}),
        ("agent=nobody", set()),
        ("run=not-an-id", set()),
    ],
)
def test_each_filter_lets_in_what_it_says(
    opened: dict[str, str], reviewer: httpx.Client, query: str, names: set[str]
) -> None:
    found = list_ids(reviewer, query)
    assert {name for name, code in opened.items() if code in found} == names
    assert len(found) == len(names)


def test_by_agent_run_and_claimer(
    opened: dict[str, str], reviewer: httpx.Client, bob: Person
) -> None:
    pause = reviewer.get(f"/reviews/{opened['pause']}").json()
    mine = list_ids(reviewer, f"assignee={bob.user.username}")
    assert mine == [opened["push"]]
    assert list_ids(reviewer, f"run={pause['run']}") == [opened["pause"]]
    assert len(list_ids(reviewer, f"agent={pause['agent']}")) == len(opened)


def test_the_risky_come_first_and_each_says_what_it_is(
    opened: dict[str, str], reviewer: httpx.Client
) -> None:
    names = {code: name for name, code in opened.items()}
    page = reviewer.get("/reviews?sort=urgency").json()
    assert [names[item["id"]] for item in page["items"]] == [
        "drop",
        "push",
        "pause",
        "question",
    ]
    said = {
        names[item["id"]]: (item["severity"], item["reversibility"])
        for item in page["items"]
    }
    assert said == {
        "drop": ("critical", "irreversible"),
        "push": ("high", "reversible elsewhere"),
        "pause": ("medium", "reversible here"),
        "question": ("low", "reversible here"),
    }
    due = [names[each] for each in list_ids(reviewer, "sort=due")]
    assert due == ["pause", "drop", "push", "question"]
    every = [names[each] for each in list_ids(reviewer, "sort=age")]
    assert every == ["push", "drop", "pause", "ruled", "question"]


@pytest.mark.parametrize("sort", ["urgency", "age", "due"])
def test_every_order_is_paged_by_key(
    project: Project, agent: httpx.Client, reviewer: httpx.Client, sort: str
) -> None:
    codes = open_many(agent, project, count=23)
    found: list[str] = []
    query: dict[str, Any] = {"sort": sort, "limit": 5, "state": "open"}
    while True:
        page = reviewer.get("/reviews", params=query).json()
        assert page["total"] == 23
        found += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert found == codes


@pytest.mark.parametrize(
    "query",
    [
        "sort=newest",
        "sort=urgency&state=ruled",
        "sort=due&cursor=x",
        "sort=urgency&cursor=16.1.01a1e10f-318d-73f3-9c5d-75c2bf552ae6",
        "severity=awful",
        "label=repo",
        "claimed=perhaps",
        "rule=x",
    ],
)
def test_what_is_no_filter_is_refused(reviewer: httpx.Client, query: str) -> None:
    assert reviewer.get(f"/reviews?{query}").status_code == 422


def test_another_project_is_not_seen(
    opened: dict[str, str], live: Live, charlie: Person
) -> None:
    with client_for(live, charlie) as client:
        for query in ("sort=urgency", "state=open", "q=force", "overdue=true"):
            assert list_ids(client, query) == []


def test_an_agent_may_ask_for_more_never_for_less(
    project: Project, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    severity = {"kinds": {"question": "medium"}}
    make_policy("default", project=project, reviews={"severity": severity})
    found = {}
    for asked in ("critical", "low", None):
        body = {"kind": "question", "title": "Now?", "severity": asked}
        answer = agent.post(f"/runs/{start_run(agent)}/reviews", json=body)
        assert answer.status_code == 201, answer.text
        assert "severity" not in answer.json()["content"]
        found[asked] = answer.json()["severity"]
    # Above everything stands only what the policy puts there.
    assert found == {"critical": "high", "low": "medium", None: "medium"}
    wrong = {"kind": "question", "title": "Now?", "severity": "info"}
    run = start_run(agent)
    assert agent.post(f"/runs/{run}/reviews", json=wrong).status_code == 422


def test_a_policy_says_how_severe_and_a_ruling_keeps_it(
    project: Project, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    rules = {"severity": {"rules": {"git-push-*": "low"}}}
    make_policy("default", project=project, reviews=rules)
    review = ask_to_run(agent, "git push --force origin main")
    assert reviewer.get(f"/reviews/{review}").json()["severity"] == "low"
    rule(reviewer, review, "deny")
    ruled = reviewer.get("/rulings?severity=low").json()
    assert [item["review"] for item in ruled["items"]] == [review]


def test_reviews_are_found_by_an_index_in_each_order(
    project: Project, agent: httpx.Client
) -> None:
    open_many(agent, project, count=300)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE reviews_review")
    scope = Scope(project_ids=(project.pk,))
    is_open = ReviewFilter(state="open")
    for sort, wanted in (
        ("urgency", is_open),
        ("due", is_open),
        ("age", is_open),
        ("age", ReviewFilter()),
        ("urgency", replace(is_open, kinds=("pause",), overdue=True, claimed=False)),
    ):
        with CaptureQueriesContext(connection) as queries:
            list_review_page(scope, wanted, sort=sort, cursor=None, limit=50)
        # Which ones, and how many; between them their rows are read.
        for each in (queries[0], queries[-1]):
            assert "review_" in _explain(each["sql"])
            assert not re.search("(Seq Scan on|SCAN) reviews", _explain(each["sql"]))


def _explain(query: str) -> str:
    words = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{words} {query}")
        return "\n".join(str(row) for row in cursor.fetchall())
