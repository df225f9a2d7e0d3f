"""Across runs: the LG rows about the ledger's metrics and its ranking of rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from reviews.statistics.rules import Period, count_violations, rank_rules
from tests.gateway.calls.calls import command
from tests.support.builders import start_run
from tests.support.problems import fields, problem


def told(rule: str, severity: str = "medium", *, corrected: bool = False) -> Any:
    return {"rule": rule, "severity": severity, "auto_corrected": corrected}


def make_run(agent: httpx.Client, *violations: Any, rework: int | None = None) -> str:
    run = start_run(agent)
    body: dict[str, Any] = {"outcome": "failed", "violations": violations}
    if rework is not None:
        body["rework_lines"] = rework
    assert agent.post(f"/runs/{run}/finish", json=body).status_code == 200
    return run


def ask(person: httpx.Client, **query: Any) -> dict[str, Any]:
    answer = person.get("/stats/rules", params=query)
    assert answer.status_code == 200, answer.text
    figures: dict[str, Any] = answer.json()
    return figures


def test_lg_08_nothing_is_zeros(manager: httpx.Client) -> None:
    figures = ask(manager)
    del figures["since"], figures["until"]
    assert figures.pop("rules") == []
    assert set(figures.values()) == {0}


def test_lg_05_three_violations_in_five_runs_are_six_for_ten(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    for violations in ([told("R1")], [told("R1"), told("R2")], [], [], []):
        make_run(agent, *violations)
    figures = ask(manager)
    assert (figures["runs"], figures["violations"]) == (5, 3)
    assert figures["violations_per_ten_runs"] == 6


def test_lg_06_one_of_two_corrected_is_a_half(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    make_run(agent, told("R1"), told("R2", corrected=True))
    assert ask(manager)["self_corrected"] == 0.5


def test_lg_07_the_mean_of_10_20_30_lines_of_rework_is_20(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    for rework in (10, 20, 30, None):
        make_run(agent, rework=rework)
    assert ask(manager)["mean_rework_lines"] == 20


def test_lg_09_a_rule_that_is_broken_most_often_ranks_first(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    make_run(agent, told("often"), told("once"), told("often"))
    make_run(agent, told("often"))
    ranked = ask(manager)["rules"]
    assert [(rule["rule"], rule["count"], rule["runs"]) for rule in ranked] == [
        ("often", 3, 2),
        ("once", 1, 1),
    ]


def test_lg_19_a_critical_rule_without_rework_outranks_style_with_much(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    make_run(agent, told("style", "low"), told("style", "low"), rework=5_000)
    make_run(agent, told("breach", "critical"), rework=0)
    first, second = ask(manager)["rules"]
    assert (first["rule"], first["score"]) == ("breach", 2.0)
    assert (second["rule"], second["score"]) == ("style", 1.0)
    assert second["mean_rework_lines"] == 5_000
    assert second["severities"] == {"low": 2}


def test_what_gates_find_is_ranked_with_what_agents_tell(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    command(agent, run, "rm -rf /srv/data")
    agent.post(f"/runs/{run}/violations", json=told("R1", "info"))
    ranked = ask(manager)["rules"]
    assert [rule["rule"] for rule in ranked] == ["delete-folder", "R1"]


def test_a_period_takes_what_happened_in_it_and_an_agent_what_it_did(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    """LG-04: four runs, two of them inside."""
    between = [timezone.now()]
    for number in range(4):
        make_run(agent, told(f"R{number}"), rework=number)
        between.append(timezone.now())
    since, until = between[1].isoformat(), between[3].isoformat()
    figures = ask(manager, since=since, until=until)
    assert {rule["rule"] for rule in figures["rules"]} == {"R1", "R2"}
    assert (figures["runs"], figures["mean_rework_lines"]) == (2, 1.5)
    assert ask(manager)["violations"] == 4
    assert ask(manager, agent="robo")["violations"] == 4
    assert ask(manager, agent="nobody")["violations"] == 0
    assert len(ask(manager, limit=1)["rules"]) == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-01-01T00:00:00"}, "since"),
        ({"since": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "since"),
        ({"limit": 0}, "limit"),
        ({"rule": "x"}, "rule"),
    ],
)
def test_a_wrong_question_is_refused(
    manager: httpx.Client, query: dict[str, Any], field: str
) -> None:
    answer = manager.get("/stats/rules", params=query)
    assert fields(problem(answer, "invalid")) == [f"query.{field}"]


def test_no_payload_is_read(agent: httpx.Client, project: Project) -> None:
    make_run(agent, told("R1"), rework=1)
    now = timezone.now() + timedelta(seconds=1)
    period = Period(project_id=project.pk, since=now - timedelta(days=1), until=now)
    with CaptureQueriesContext(connection) as queries:
        count_violations(period)
        rank_rules(period, limit=10)
    assert len(queries) == 4
    assert all("ledger_entry" not in query["sql"] for query in queries)
