"""GET /runs and GET /runs/{run}: filters, keyset paging, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from accounts.models import Project
from tests.conftest import client_for
from tests.support.builders import make_project, make_robot, pause_run, start_run
from tests.support.live import Live
from tests.support.problems import fields, problem


def ids(client: httpx.Client, query: str = "") -> list[str]:
    answer = client.get(f"/runs{query}")
    assert answer.status_code == 200, answer.text
    return [run["id"] for run in answer.json()["items"]]


@pytest.fixture
def other_agent(live: Live, project: Project) -> Iterator[httpx.Client]:
    """Another agent of the same project."""
    with client_for(live, make_robot("other", project=project)) as client:
        yield client


def test_an_agent_sees_its_own_runs_and_a_person_those_of_the_project(
    agent: httpx.Client, other_agent: httpx.Client, reviewer: httpx.Client
) -> None:
    first, second = start_run(agent), start_run(other_agent)

    assert ids(agent) == [first]
    assert ids(other_agent) == [second]
    assert ids(reviewer) == [second, first]


def test_one_run_reads_the_same_alone_and_in_the_list(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)

    alone = agent.get(f"/runs/{run}")

    assert alone.headers["cache-control"] == "no-store"
    # What it is allowed stands in its memory, which lists do not read.
    listed = {**agent.get("/runs").json()["items"][0], "allowances": []}
    assert alone.json() == listed
    assert alone.content == reviewer.get(f"/runs/{run}").content


def test_every_filter_narrows_the_list(
    agent: httpx.Client, other_agent: httpx.Client, manager: httpx.Client
) -> None:
    plain = start_run(agent, task="Tidy up 100% of it")
    fix = start_run(agent, intent="bug-fix", labels={"repo": "shop", "2024": "x:y"})
    paused = start_run(other_agent)
    pause_run(other_agent, paused)

    assert ids(manager, "?status=paused") == [paused]
    assert ids(manager, "?status=running") == [fix, plain]
    assert ids(manager, "?agent=other") == [paused]
    assert ids(manager, "?agent=nobody") == []
    assert ids(manager, "?intent=bug-fix") == [fix]
    assert ids(manager, "?label=repo:shop") == [fix]
    assert ids(manager, "?label=repo:sho") == []
    assert ids(manager, "?q=tidy") == [plain]
    assert ids(manager, "?q=100%25") == [plain]
    assert ids(manager, "?q=%25") == [plain]
    assert ids(manager, "?q=_") == []
    assert ids(manager, "?status=running&intent=bug-fix&q=flaky") == [fix]


def test_a_label_is_found_whatever_its_name(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["2024", "0", "-1", 'a"b', "a.b", "$", "a'b", "ä\\", "[0]", "%s"]
    for name in cases:
        with subtests.test(name=name):
            run = start_run(agent, labels={name: "x:y%'\""})
            start_run(agent)

            answer = agent.get("/runs", params={"label": f"{name}:x:y%'\""})

            assert [item["id"] for item in answer.json()["items"]] == [run]


def test_pages_follow_each_other_without_a_gap_while_runs_are_added(
    agent: httpx.Client,
) -> None:
    runs = [start_run(agent) for _ in range(5)]

    first = agent.get("/runs?limit=2").json()
    start_run(agent)
    second = agent.get(f"/runs?limit=2&cursor={first['next_cursor']}").json()
    third = agent.get(f"/runs?limit=2&cursor={second['next_cursor']}").json()

    seen = [item["id"] for page in (first, second, third) for item in page["items"]]
    assert seen == runs[::-1]
    assert third["next_cursor"] is None


def test_a_page_that_ends_with_the_last_run_says_so(agent: httpx.Client) -> None:
    start_run(agent)
    start_run(agent)

    page = agent.get("/runs?limit=2").json()

    assert len(page["items"]) == 2
    assert page["next_cursor"] is None


def test_a_cursor_stays_good_when_its_run_leaves_the_filter(
    agent: httpx.Client,
) -> None:
    runs = [start_run(agent) for _ in range(3)]
    page = agent.get("/runs?limit=1&status=running").json()
    agent.post(f"/runs/{runs[2]}/finish", json={"outcome": "completed"})

    follows = ids(agent, f"?status=running&limit=5&cursor={page['next_cursor']}")

    assert follows == [runs[1], runs[0]]


def test_a_query_that_means_nothing_is_refused(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str]] = [
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=1000000000", "limit"),
        ("limit=ten", "limit"),
        ("cursor=x", "cursor"),
        ("cursor=", "cursor"),
        ("cursor=01900000-0000-7000-8000-000000000000", "cursor"),
        ("cursor=' OR 1=1 --", "cursor"),
        ("status=open", "status"),
        ("status=", "status"),
        ("status=running' OR '1'='1", "status"),
        ("intent=none", "intent"),
        ("label=repo", "label"),
        ("label=:x", "label"),
        ("sort=id; DROP TABLE ledger_run", "sort"),
        ("sort=id", "sort"),
        ("since=yesterday", "since"),
        ("since=2026-11-01T00:00:00", "since"),
        ("until=0001-01-01T00:00:00%2B14:00", "until"),
        ("since=2026-11-02T00:00:00Z&until=2026-11-01T00:00:00Z", "since"),
        ("min_cost=-1", "min_cost"),
        ("min_cost=1e3", "min_cost"),
        ("accepted=maybe", "accepted"),
        ("state=running", "state"),
    ]
    for query, field in cases:
        with subtests.test(query=query, field=field):
            refusal = problem(agent.get(f"/runs?{query}"), "invalid")

            assert fields(refusal) == [f"query.{field}"]


def test_a_cursor_of_another_project_is_refused(
    agent: httpx.Client, live: Live
) -> None:
    with client_for(live, make_robot(project=make_project())) as stranger:
        foreign = start_run(stranger)
    start_run(agent)

    problem(agent.get(f"/runs?cursor={foreign}"), "invalid")


def test_a_nul_in_the_query_is_bad_encoding(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[str] = [
        "q=%00",
        "agent=a%00",
        "label=a:%00",
        "label=%00:b",
        "cursor=%00",
    ]
    for query in cases:
        with subtests.test(query=query):
            problem(agent.get(f"/runs?{query}"), "bad-encoding")


def test_a_query_that_is_not_utf_8_is_bad_encoding(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["q=%ff", "q=%ED%A0%80", "agent=%C0%AF"]
    for query in cases:
        with subtests.test(query=query):
            problem(agent.get(f"/runs?{query}"), "bad-encoding")


def test_an_id_that_is_nowhere_is_not_found(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[str] = [
        "01900000-0000-7000-8000-000000000000",
        "x",
        "%00",
        "%2e%2e",
        "..%2f..%2fetc",
        "1" * 10_000,
        "{run}",
    ]
    for code in cases:
        with subtests.test(code=code):
            start_run(agent)

            problem(agent.get(f"/runs/{code}"), "not-found")
            body = {"number": 1, "tokens": 1, "tool_calls": 1}
            problem(agent.post(f"/runs/{code}/steps", json=body), "not-found")
            problem(agent.get(f"/runs/{code}/decision"), "not-found")


def test_an_id_has_one_spelling(agent: httpx.Client) -> None:
    run = start_run(agent)

    for spelling in (
        run.replace("-", ""),
        f"{{{run}}}",
        f"urn:uuid:{run}",
        f"{run}%20",
    ):
        problem(agent.get(f"/runs/{spelling}"), "not-found")
