"""GET /runs: by time, by several values, by cost, in any order, and both ways."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from ledger.chain import format_timestamp
from ledger.models import Run, RunEnd
from ledger.run_list import paging, totals
from ledger.run_list.filter import EVERY_RUN
from ledger.run_list.scope import Scope
from tests.support.builders import pause_run, start_run, step


def ids(client: httpx.Client, **query: Any) -> list[str]:
    answer = client.get("/runs", params=query)
    assert answer.status_code == 200, answer.text
    return [run["id"] for run in answer.json()["items"]]


def begin(client: httpx.Client, at: datetime, **more: Any) -> str:
    """A run that began at another time."""
    run = start_run(client, **more)
    Run.objects.filter(code=run).update(created_at=at)
    return run


def finish(client: httpx.Client, run: str) -> None:
    answer = client.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    assert answer.status_code == 200, answer.text


def spend(client: httpx.Client, **more: Any) -> str:
    """A run with one step that uses this."""
    run = start_run(client)
    answer = client.post(f"/runs/{run}/steps", json=step(1, **more))
    assert answer.status_code == 201, answer.text
    return run


def test_ledger_queries_by_time_range(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    """LG-04: by task, the last three, and four runs of which two are inside."""
    noon = timezone.now().replace(microsecond=0) - timedelta(days=2)
    one, two, three, four = (
        # Words that no part of an id begins with.
        begin(agent, noon + timedelta(hours=hour), task=f"Task {word}")
        for hour, word in enumerate(("north", "south", "west", "home"))
    )
    since = format_timestamp(noon + timedelta(hours=1))
    until = format_timestamp(noon + timedelta(hours=3))

    assert ids(manager, since=since, until=until) == [three, two]
    assert ids(manager, since=since) == [four, three, two]
    assert ids(manager, until=until) == [three, two, one]
    assert ids(manager, limit=3) == [four, three, two]
    assert ids(manager, q="task west") == [three]


def test_a_run_that_began_earlier_stands_further_down_whenever_it_was_stored(
    agent: httpx.Client,
) -> None:
    now = start_run(agent)
    earlier = begin(agent, timezone.now() - timedelta(hours=1))

    assert ids(agent) == [now, earlier]
    assert ids(agent, sort="started") == [earlier, now]


def test_a_parameter_given_twice_means_any_of_its_values(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    running = start_run(agent, model="small", intent="docs", labels={"repo": "shop"})
    paused = start_run(agent, model="large", intent="debug", labels={"repo": "site"})
    pause_run(agent, paused)
    done = start_run(agent, model="large", labels={"team": "web"})
    finish(agent, done)

    assert ids(manager, status=["paused", "running"]) == [paused, running]
    assert ids(manager, status="final") == [done]
    assert ids(manager, status=["final", "paused"]) == [done, paused]
    assert ids(manager, model="large") == [done, paused]
    assert ids(manager, model=["small", "large"]) == [done, paused, running]
    assert ids(manager, intent=["docs", "debug"]) == [paused, running]
    assert ids(manager, label=["repo:shop", "team:web"]) == [done, running]
    assert ids(manager, policy="default") == [done, paused, running]
    assert ids(manager, policy="default@1000") == ids(manager, policy="other") == []
    assert ids(manager, parent=["nobody", running]) == []


def test_words_are_found_in_task_agent_model_labels_and_id(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(
        agent, task="Move invoices", model="some-large", labels={"ticket": "PAY-2214"}
    )
    start_run(agent, task="Move house")

    for words in ("invoices move", "robo INVOICES", "some-large", "pay-2214", run):
        assert ids(manager, q=words) == [run], words
    assert ids(manager, q=f"r-{run[-6:]}") == [run]
    assert ids(manager, q="move nothing") == []


@pytest.mark.parametrize("sort", ["cost", "tokens", "steps", "time"])
def test_runs_are_sorted_by_what_they_used_whether_or_not_they_are_over(
    agent: httpx.Client, manager: httpx.Client, sort: str
) -> None:
    used = {"cost_usd": "0.{}", "tokens": "{}000", "duration_ms": "{}00000"}
    runs = []
    for amount in (2, 4, 1, 3):
        body = {name: text.format(amount) for name, text in used.items()}
        numbers = {name: int(body[name]) for name in ("tokens", "duration_ms")}
        run = start_run(agent)
        for number in range(1, amount + 1):
            more = {**numbers, "cost_usd": body["cost_usd"], "checkpoint": True}
            agent.post(f"/runs/{run}/steps", json=step(number, **more))
        runs.append(run)
    second, fourth, first, third = runs
    finish(agent, fourth)
    finish(agent, first)

    assert ids(manager, sort=f"-{sort}") == [fourth, third, second, first]
    assert ids(manager, sort=sort) == [first, second, third, fourth]
    assert ids(manager, sort=sort, status="final") == [first, fourth]
    assert ids(manager, sort=sort, status="running") == [second, third]

    forwards, pages = [], []
    query: dict[str, Any] = {"sort": f"-{sort}", "limit": 1}
    while True:
        page = manager.get("/runs", params=query).json()
        forwards += [run["id"] for run in page["items"]]
        pages.append(page)
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert forwards == [fourth, third, second, first]
    assert pages[0]["previous_cursor"] is None
    query["cursor"] = pages[2]["previous_cursor"]
    back = manager.get("/runs", params=query).json()
    assert [run["id"] for run in back["items"]] == [third]
    query["cursor"] = back["previous_cursor"]
    front = manager.get("/runs", params=query).json()
    assert [run["id"] for run in front["items"]] == [fourth]
    assert front["previous_cursor"] is None
    assert manager.get("/runs", params={"cursor": query["cursor"]}).status_code == 422


@pytest.mark.parametrize("module", [paging, totals])
def test_a_run_that_ends_while_the_list_is_read_is_in_it_once(
    module: ModuleType,
    project: Project,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = spend(agent, cost_usd="0.40")
    read: list[str] = []

    def end_before_second(filter_rows: Any) -> Any:
        def filter_some(*given: Any) -> Any:
            read.append("a part")
            if len(read) == 2:
                finish(agent, run)
            return filter_rows(*given)

        return filter_some

    for name in ("filter_ends", "filter_open_runs"):
        monkeypatch.setattr(module, name, end_before_second(getattr(module, name)))
    scope = Scope(project_ids=(project.pk,))
    if module is totals:
        found = totals.count_totals(scope=scope, wanted=EVERY_RUN)
        assert (found.runs, found.steps, found.cost_micros) == (1, 1, 400_000)
    else:
        page = paging.list_page(
            scope=scope,
            wanted=EVERY_RUN,
            sort=paging.Sort(key="cost"),
            limit=10,
            related=(),
        )
        assert [str(each.code) for each in page.runs] == [run]


def test_a_least_cost_counts_for_runs_that_are_over_and_for_others(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    spend(agent, cost_usd="0.49")
    dear = spend(agent, cost_usd="0.5")
    over = spend(agent, cost_usd="7")
    finish(agent, over)

    assert ids(manager, min_cost="0.5") == [over, dear]
    assert ids(manager, min_cost="0.50", sort="cost") == [dear, over]
    assert ids(manager, min_cost="7.000001") == []


def test_what_a_run_came_to_is_copied_with_its_end(agent: httpx.Client) -> None:
    run = spend(agent, tokens=700, cost_usd="0.25", duration_ms=5000)
    assert not RunEnd.objects.filter(run__code=run).exists()

    finish(agent, run)

    end = RunEnd.objects.get(run__code=run)
    assert (end.status, end.steps, end.tokens) == ("completed", 1, 700)
    assert (end.cost_micros, end.time_ms) == (250_000, 5000)
