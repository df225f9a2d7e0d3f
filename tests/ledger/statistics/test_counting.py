"""Figures are what the ledger says: nothing lost, nothing twice, whoever counts or dies."""

from __future__ import annotations

from random import Random
from threading import Barrier
from typing import Any

import httpx
import pytest
from django.db.models import Sum

from accounts.models import Project
from ledger.models import PeriodTotals, ProjectHead, Run, StatisticsCursor
from ledger.statistics import counting
from ledger.statistics.counting import count_project, count_slice
from ledger.statistics.recount import list_differences, rebuild_statistics
from ledger.statistics.selectors import (
    get_counted_until,
    read_counts,
    read_spend,
    read_totals,
)
from ledger.statistics.slices import LABELS_LIMIT, Figures, read_slice
from ledger.statistics.store import add_figures
from tests.conftest import client_for
from tests.ledger.statistics.work import scope_of, sum_runs, work
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import (
    make_project,
    make_robot,
    pause_at_once,
    start_run,
    step,
)
from tests.support.examples import part
from tests.support.live import Live
from tests.support.people import rule
from tests.support.threads import Threads

RUNS = part(96, least=12)
ROUNDS = part(24, least=5)


def test_figures_are_what_the_rows_of_the_runs_say(
    live: Live, agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    with client_for(live, make_robot("other", project=project)) as other:
        random = Random(17)
        for number in range(RUNS):
            work(other if number % 3 else agent, reviewer, random)
    count_project(project_id=project.pk)

    totals = read_totals(scope=scope_of(project))
    assert sum_runs(project) == {
        name: getattr(totals, name)
        for name in ("steps", "tokens", "tool_calls", "cost_micros")
    }
    assert totals.runs_started == RUNS
    by_agent = read_spend(scope=scope_of(project), by="agent")
    assert {each.key for each in by_agent} == {"robo", "other"}
    assert sum(each.cost_micros for each in by_agent) == totals.cost_micros
    for by in ("model", "label:repo", "run", "day"):
        spent = read_spend(scope=scope_of(project), by=by)
        assert sum(each.tokens for each in spent) == totals.tokens, by
    assert list_differences(project_id=project.pk) == []


def test_of_two_that_read_the_same_entries_one_adds_them(
    live: Live,
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both have read a slice before either moves the cursor, again and again, while
    agents work on."""

    def work_on(seed: int) -> None:
        random = Random(seed)
        for _ in range(RUNS // 4):
            work(agent, reviewer, random)

    both = Barrier(2)

    def read_together(**given: int) -> Figures:
        figures = read_slice(**given)
        both.wait(timeout=30)
        return figures

    def count_on() -> list[int]:
        return [count_slice(project_id=project.pk, size=2) for _ in range(ROUNDS)]

    work_on(1)
    StatisticsCursor.objects.get_or_create(project_id=project.pk)
    assert ProjectHead.objects.get(pk=project.pk).position >= 2 * ROUNDS
    monkeypatch.setattr(counting, "read_slice", read_together)
    with Threads(4) as pool:
        agents = [pool.submit(work_on, seed) for seed in (2, 3)]
        counters = [pool.submit(count_on) for _ in range(2)]
        counted = [each.result() for each in counters]
        for each in agents:
            each.result()
    monkeypatch.undo()

    assert [sum(pair) for pair in zip(*counted, strict=True)] == [2] * ROUNDS
    assert StatisticsCursor.objects.get(pk=project.pk).position == 2 * ROUNDS
    assert list_differences(project_id=project.pk) == []
    count_project(project_id=project.pk)
    assert list_differences(project_id=project.pk) == []


def test_whoever_dies_while_counting_leaves_nothing_behind(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(agent)
    count_project(project_id=project.pk)
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))

    def die_behind_it(**given: Any) -> None:
        add_figures(**given)
        raise KeyboardInterrupt

    monkeypatch.setattr(counting, "add_figures", die_behind_it)
    with pytest.raises(KeyboardInterrupt):
        count_slice(project_id=project.pk)
    monkeypatch.undo()
    assert read_totals(scope=scope_of(project)).steps == 0

    count_project(project_id=project.pk)
    assert read_totals(scope=scope_of(project)).steps == 1
    assert list_differences(project_id=project.pk) == []


def test_an_entry_that_was_damaged_holds_up_no_other(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    for number in (1, 2):
        agent.post(f"/runs/{run}/steps", json=step(number))
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = 'z1:!' WHERE seq = 2 AND run_id = %s",
            [Run.objects.get(code=run).pk],
        )
    count_project(project_id=project.pk)
    assert read_totals(scope=scope_of(project)).steps == 1
    assert list_differences(project_id=project.pk) == []


def test_who_finds_the_cursor_moved_adds_nothing(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(agent)

    def be_slow(**given: int) -> Figures:
        figures = read_slice(**given)
        monkeypatch.undo()
        assert count_slice(project_id=project.pk) == 1  # somebody else was faster
        return figures

    StatisticsCursor.objects.get_or_create(project_id=project.pk)
    monkeypatch.setattr(counting, "read_slice", be_slow)
    assert count_slice(project_id=project.pk) == 0
    assert read_totals(scope=scope_of(project)).runs_started == 1


def test_slices_of_any_size_add_up_to_the_same(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    random = Random(3)
    for _ in range(6):
        work(agent, reviewer, random)
    rebuild_statistics(project_id=project.pk)

    def read_all() -> list[dict[str, object]]:
        rows = PeriodTotals.objects.filter(project=project).values()
        return sorted(
            ({k: v for k, v in row.items() if k != "id"} for row in rows), key=repr
        )

    whole = read_all()
    rebuild_statistics(project_id=project.pk)
    assert read_all() == whole
    PeriodTotals.objects.filter(project=project).delete()
    StatisticsCursor.objects.filter(pk=project.pk).update(position=0)
    while count_slice(project_id=project.pk, size=3):
        pass
    assert read_all() == whole


def test_why_runs_end_is_counted_in_few_words(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    reviewer.post(f"/runs/{start_run(agent)}/abort", json={"reason": "no"})
    rule(reviewer, pause_at_once(agent, start_run(agent)), "abort")
    agent.post(f"/runs/{start_run(agent)}/finish", json={"outcome": "completed"})
    agent.post(f"/runs/{start_run(agent)}/finish", json={"outcome": "failed"})
    run = start_run(agent, budget={"tokens": 10})
    stopped = agent.post(f"/runs/{run}/steps", json=step(1, tokens=11)).json()
    assert stopped["decision"] == "stop"
    for broken in (0, 2):
        tests = {"ran": True, "passed": 5, "failed": broken}
        said = {"outcome": "completed", "tests": tests, "violations": []}
        ended = agent.post(f"/runs/{start_run(agent)}/finish", json=said).json()
        assert ended["accepted"] is (broken == 0)
    count_project(project_id=project.pk)

    assert read_counts(scope=scope_of(project), kind="ending") == {
        "agent_failed": 1,
        "budget": 1,
        "completed": 2,
        "evaluators": 1,
        "person": 1,
        "ruling": 1,
    }
    totals = read_totals(scope=scope_of(project))
    assert (totals.runs_aborted, totals.runs_stopped, totals.runs_ended) == (2, 1, 6)
    # Nothing is known of the two that only said how they ended.
    assert (totals.runs_accepted, totals.runs_not_accepted) == (1, 1)


def test_what_came_after_a_move_counts_for_the_new_version(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    documents: list[dict[str, Any]] = [{}, {"checks": {"max_resets": 1}}]
    for number, document in enumerate(documents, 2):
        body = {"document": document, "activate": True, "apply_to_running": True}
        assert manager.post("/policies/default/versions", json=body).status_code == 201
        agent.post(f"/runs/{run}/steps", json=step(number))
    rebuild_statistics(project_id=project.pk)

    for version in (1, 2, 3):
        totals = read_totals(scope=scope_of(project, policy=f"default@{version}"))
        assert (totals.steps, totals.runs_started) == (1, version == 1)


def test_how_far_it_is_counted(agent: httpx.Client, project: Project) -> None:
    start_run(agent)
    assert get_counted_until(project_id=project.pk) == (None, 1)
    count_project(project_id=project.pk)
    at, waiting = get_counted_until(project_id=project.pk)
    assert at is not None
    assert waiting == 0


def test_what_agents_add_meanwhile_is_left_to_the_next_task(
    project: Project, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a busy server would count a few entries at a time, without an end."""
    run, numbers = start_run(agent), iter(range(1, 10))

    def read_while_it_works(**given: Any) -> Figures:
        agent.post(f"/runs/{run}/steps", json=step(next(numbers)))
        return read_slice(**given)

    monkeypatch.setattr(counting, "read_slice", read_while_it_works)

    assert count_project(project_id=project.pk) > 0
    assert next(numbers) == 2
    assert count_project(project_id=project.pk) == 1


def test_of_many_labels_the_first_by_name_are_counted(
    agent: httpx.Client, project: Project
) -> None:
    """Whatever order the agent names them in: two runs count in the same rows."""
    names = [f"label-{number}" for number in range(LABELS_LIMIT + 2)]
    start_run(agent, labels=dict.fromkeys(names, "x"))
    start_run(agent, labels=dict.fromkeys(reversed(names), "x"))
    count_project(project_id=project.pk)
    rows = PeriodTotals.objects.filter(project=project, interval="hour")
    counted = dict(rows.values_list("label_name").annotate(Sum("runs_started")))
    assert counted == dict.fromkeys(["", *names[:LABELS_LIMIT]], 2)


def test_counting_one_project_moves_the_cursor_of_no_other(
    live: Live, agent: httpx.Client, project: Project
) -> None:
    other = make_project()
    with client_for(live, make_robot(project=other)) as stranger:
        start_run(stranger)
    start_run(agent)
    StatisticsCursor.objects.get_or_create(project_id=other.pk)
    assert count_slice(project_id=project.pk) == 1
    assert StatisticsCursor.objects.get(pk=other.pk).position == 0
    assert count_slice(project_id=other.pk) == 1
