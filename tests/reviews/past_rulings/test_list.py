"""The list of rulings over HTTP: filters, order, pages, and the same as a file."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from reviews.models import RulingFact
from reviews.past_rulings.filters import RulingSearch, list_ruling_page
from reviews.past_rulings.outcomes import build_outcome
from tests.gateway.calls.calls import claim, command, rule, settle
from tests.support import people
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.problems import fields, problem


def ask(person: httpx.Client, **query: Any) -> dict[str, Any]:
    answer = person.get("/rulings", params=query)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


def list_ids(person: httpx.Client, **query: Any) -> list[str]:
    page = ask(person, **query)
    assert page["total"] == len(page["items"])
    return [item["id"] for item in page["items"]]


def ruled(client: httpx.Client, agent: httpx.Client, run: str, action: str) -> str:
    call = command(agent, run, "rm -rf src")
    code: str = rule(client, call, action, note="Hm.").json()["ruling"]["id"]
    return code


def test_a_ruling_with_what_was_ruled_on_and_what_came_of_it(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person, project: Project
) -> None:
    run = start_run(agent)
    call = command(agent, run, "rm -rf src")
    ruling = rule(reviewer, call, "approve", note="Go on.").json()["ruling"]
    claim(agent, run, call)
    settle(agent, run, call)
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    (item,) = ask(reviewer)["items"]
    assert item["id"] == ruling["id"]
    assert (item["by"], item["action"], item["note"]) == (
        bob.user.username,
        "approve",
        "Go on.",
    )
    assert (item["run"], item["agent"]) == (run, "robo")
    assert (item["rule"], item["severity"]) == ("delete-folder", "high")
    assert item["waited_ms"] >= 0
    assert item["read_ms"] is None  # by a program
    outcome = item["outcome"]
    assert (outcome["call"], outcome["run_status"]) == ("succeeded", "completed")
    assert outcome["text"].startswith("ran, completed")
    assert item["url"].endswith(f"/p/{project.slug}/queue/{call['review']['id']}/")


def test_filters_take_in_what_they_name(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    alice: Person,
    project: Project,
) -> None:
    run = start_run(agent, labels={"repo": "shop"})
    denied = ruled(reviewer, agent, run, "deny")
    approved = ruled(manager, agent, run, "approve")
    review = pause_at_once(agent, start_run(agent, task="Other"))
    paused = people.rule(reviewer, review, "approve", note="Nearly")["ruling"]["id"]
    facts = RulingFact.objects.filter(project=project)
    long_ago = timezone.now() - timedelta(days=40)
    facts.filter(ruling_id=denied).update(at=long_ago, took_ms=90_000)
    facts.filter(ruling_id=paused).update(took_ms=1_000, regretted=True)
    facts.filter(ruling_id=approved).update(took_ms=5_000)
    name = alice.user.username
    lists: list[tuple[dict[str, Any], list[str]]] = [
        ({}, [paused, approved, denied]),
        ({"sort": "oldest"}, [denied, approved, paused]),
        ({"sort": "slowest"}, [denied, approved, paused]),
        ({"sort": "fastest"}, [paused, approved, denied]),
        ({"by": name}, [approved]),
        ({"by": [name, "nobody"]}, [approved]),
        ({"by": "nobody"}, []),
        ({"action": "approve"}, [paused, approved]),
        ({"action": ["approve", "deny"]}, [paused, approved, denied]),
        ({"kind": "pause"}, [paused]),
        ({"severity": "medium"}, [paused]),
        ({"agent": "robo"}, [paused, approved, denied]),
        ({"agent": "other"}, []),
        ({"rule": "destructive"}, [approved, denied]),
        ({"rule": "delete-*"}, [approved, denied]),
        ({"rule": "delete"}, []),
        ({"label": "repo:shop"}, [approved, denied]),
        ({"since": (timezone.now() - timedelta(days=30)).isoformat()}, [paused, approved]),
        ({"until": (timezone.now() - timedelta(days=30)).isoformat()}, [denied]),
        ({"faster_than_ms": 5_000}, [paused]),
        ({"regretted": "true"}, [paused]),
        ({"q": "nearly"}, [paused]),
        ({"q": run}, [approved, denied]),
    ]  # fmt: skip
    found = [list_ids(manager, **query) for query, _ in lists]
    assert found == [wanted for _, wanted in lists]


def test_pages_lead_on_and_back_in_every_order(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    for _ in range(5):
        ruled(reviewer, agent, run, "deny")
    RulingFact.objects.filter(project=project).update(took_ms=7)  # ties everywhere
    for sort in ("newest", "oldest", "slowest", "fastest"):
        every = list_ids(reviewer, sort=sort)
        first = ask(reviewer, sort=sort, limit=2)
        second = ask(reviewer, sort=sort, limit=2, cursor=first["next_cursor"])
        third = ask(reviewer, sort=sort, limit=2, cursor=second["next_cursor"])
        pages = [
            [item["id"] for item in page["items"]] for page in (first, second, third)
        ]
        assert [*pages[0], *pages[1], *pages[2]] == every
        assert third["next_cursor"] is None
        assert first["previous_cursor"] is None
        back = ask(reviewer, sort=sort, limit=2, cursor=third["previous_cursor"])
        assert [item["id"] for item in back["items"]] == pages[1]
        start = ask(reviewer, sort=sort, limit=2, cursor=back["previous_cursor"])
        assert [item["id"] for item in start["items"]] == pages[0]
        assert start["previous_cursor"] is None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"cursor": "nonsense"}, "cursor"),
        ({"label": "repo"}, "label"),
        ({"person": "bob"}, "person"),
    ],
)
def test_what_is_not_understood_is_refused(
    reviewer: httpx.Client, query: dict[str, str], field: str
) -> None:
    answer = reviewer.get("/rulings", params=query)
    assert fields(problem(answer, "invalid")) == [f"query.{field}"]


def test_another_project_is_not_there(
    agent: httpx.Client, reviewer: httpx.Client, charlie: Person, project: Project
) -> None:
    ruled(reviewer, agent, start_run(agent), "deny")
    client = httpx.Client(base_url=reviewer.base_url, headers=charlie.headers)
    with client:
        assert client.get("/rulings").json()["items"] == []
        for path in ("/rulings", "/rulings.csv", "/stats/reviewers"):
            answer = client.get(path, params={"project": project.slug})
            assert answer.status_code == 404


def test_the_file_has_the_same_rows_and_no_formula(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    for note in ("=1+1", "+1", "-1", "@x", "\tx", " =1", "plain, with a comma"):
        call = command(agent, run, "rm -rf src")
        assert rule(reviewer, call, "deny", note=note).status_code == 200
    answer = reviewer.get("/rulings.csv", params={"action": "deny"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    items = ask(reviewer)["items"]
    assert [row["id"] for row in rows] == [item["id"] for item in items]
    assert [row["note"] for row in reversed(rows)] == [
        *("'=1+1", "'+1", "'-1", "'@x", "'\tx", "' =1", "plain, with a comma")
    ]
    assert rows[0]["outcome"] == items[0]["outcome"]["text"]
    assert (rows[0]["regretted"], rows[0]["accepted"]) == ("false", "")
    assert reviewer.get("/rulings.csv", params={"cursor": "x"}).status_code == 422


def test_a_page_costs_two_queries_however_many_rows(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    for action in ("deny", "approve"):
        ruled(reviewer, agent, run, action)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        page = list_ruling_page(
            RulingSearch(project_id=project.pk), cursor=None, limit=50
        )
        words = [build_outcome(row, timezone.now()).text for row in page.rows]
    assert words == ["not run yet", "the run goes on"]
    assert len(queries) == 2
    columns = queries[1]["sql"].split(" FROM ")[0]
    assert '"content"' not in columns
    assert '"memory"' not in columns
