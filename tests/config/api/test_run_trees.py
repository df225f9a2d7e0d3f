"""Runs that other runs start: parent, children and what they use, alone and in the list."""

from __future__ import annotations

from typing import Any

import httpx

from accounts.models import Project
from ledger.models import Run
from ledger.serializers import RUN_RELATED, serialize_runs
from tests.conftest import client_for
from tests.support.builders import make_robot, pause_run, start_run, step
from tests.support.live import Live


def read(client: httpx.Client, run: str) -> dict[str, Any]:
    answer = client.get(f"/runs/{run}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def list_ids(client: httpx.Client, **query: str) -> list[str]:
    answer = client.get("/runs", params=query)
    assert answer.status_code == 200, answer.text
    return [run["id"] for run in answer.json()["items"]]


def report(client: httpx.Client, run: str, **used: Any) -> None:
    assert client.post(f"/runs/{run}/steps", json=step(1, **used)).status_code == 201


def test_a_run_names_the_one_above_and_counts_those_it_started(
    agent: httpx.Client,
) -> None:
    top = start_run(agent)
    running, paused, ended = (start_run(agent, parent_run=top) for _ in range(3))
    pause_run(agent, paused)
    agent.post(f"/runs/{ended}/finish", json={"outcome": "completed"})
    below = start_run(agent, parent_run=running)

    shown = {
        run["id"]: (run["parent_run"], *run["children"].values())
        for run in agent.get("/runs").json()["items"]
    }
    assert shown == {
        top: (None, 2, 3),
        running: (top, 1, 1),
        paused: (top, 0, 0),
        ended: (top, 0, 0),
        below: (running, 0, 0),
    }
    assert read(agent, top)["children"] == {"running": 2, "total": 3}


def test_children_are_found_by_their_parent(
    agent: httpx.Client, live: Live, project: Project, manager: httpx.Client
) -> None:
    top = start_run(agent)
    child = start_run(agent, parent_run=top)
    start_run(agent, parent_run=child)
    with client_for(live, make_robot("other", project=project)) as other:
        helper = start_run(other, parent_run=top)

    assert list_ids(manager, parent=top) == [helper, child]
    # An agent still sees its own runs alone.
    assert list_ids(agent, parent=top) == [child]
    assert list_ids(manager, parent=top, status="paused") == []
    for unknown in ("x", helper, "00000000-0000-7000-8000-000000000000"):
        assert list_ids(manager, parent=unknown) == []


def test_a_run_that_merely_follows_another_is_no_child_of_it(
    agent: httpx.Client,
) -> None:
    before, after = start_run(agent), start_run(agent)
    parent = Run.objects.get(code=before)
    Run.objects.filter(code=after).update(parent=parent)

    assert read(agent, after)["parent_run"] is None
    assert read(agent, before)["children"] == {"running": 0, "total": 0}
    assert list_ids(agent, parent=before) == []


def test_a_budget_shows_what_all_runs_below_have_used(agent: httpx.Client) -> None:
    limits = {"tokens": 1_000, "tool_calls": 50, "cost_usd": "2.00"}
    top = start_run(agent, budget=limits)
    child = start_run(agent, parent_run=top, budget=limits)
    bottom = start_run(agent, parent_run=child, budget=limits)
    for run, tokens in ((top, 100), (child, 20), (bottom, 3)):
        report(agent, run, tokens=tokens, tool_calls=2, cost_usd="0.25")

    budgets = {run: read(agent, run)["budget"] for run in (top, child, bottom)}

    for run, *used in (
        (top, 123, 6, "0.75"),
        (child, 23, 4, "0.50"),
        (bottom, 3, 2, "0.25"),
    ):
        assert [budgets[run][part]["used"] for part in limits] == used
    assert [budgets[top][part]["remaining"] for part in limits] == [877, 44, "1.25"]


def test_a_page_of_runs_costs_three_queries_more_however_long_it_is(
    agent: httpx.Client, django_assert_num_queries: Any
) -> None:
    top = start_run(agent)
    codes = [top, *(start_run(agent, parent_run=top) for _ in range(4))]
    for size in (2, 5):
        runs = list(
            Run.objects.select_related(*RUN_RELATED).filter(code__in=codes[:size])
        )
        with django_assert_num_queries(3):
            assert len(serialize_runs(runs)) == size
