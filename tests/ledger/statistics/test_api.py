"""The figures over HTTP: to the letter, and bounded."""

from __future__ import annotations

import csv
import io
from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.statistics.counting import count_project
from tests.support.builders import start_run, step
from tests.support.problems import fields, problem


@pytest.fixture
def counted(agent: httpx.Client, project: Project) -> str:
    """Two runs: one cheap and even, one dear that is paused."""
    cheap = start_run(agent, model="small", labels={"repo": "site"})
    for number in (1, 2):
        body = step(number, cost_usd="0.01", uncertainty=0.1)
        agent.post(f"/runs/{cheap}/steps", json=body)
    dear = start_run(
        agent, model="big", labels={"repo": "=1+1", "team": "red"}, task="=cmd|x"
    )
    agent.post(f"/runs/{dear}/steps", json=step(1, cost_usd="1.5", uncertainty=0.95))
    count_project(project_id=project.pk)
    return dear


def ask(person: httpx.Client, path: str, **query: Any) -> dict[str, Any]:
    answer = person.get(f"/stats/{path}", params=query)
    assert answer.status_code == 200, answer.text
    figures: dict[str, Any] = answer.json()
    return figures


def test_what_gates_decided(counted: str, manager: httpx.Client) -> None:
    figures = ask(manager, "gates")
    assert figures["evaluations"] == 3
    assert figures["decisions"] == {"pause": 1, "continue": 2}
    assert figures["findings"] == figures["paused_by"] == {"uncertainty": 1}
    assert figures["average_slope"] == 0.0
    assert len(figures["series"]) in {31, 32}
    assert figures["series"][-1]["decisions"] == figures["decisions"]
    assert figures["series"][0]["decisions"] == {}
    assert ask(manager, "gates", model="small")["decisions"] == {"continue": 2}
    assert ask(manager, "gates", model="small")["findings"] == {}
    assert ask(manager, "gates", label="team:red")["decisions"] == {"pause": 1}
    assert ask(manager, "gates", agent="nobody")["evaluations"] == 0
    weeks = ask(manager, "gates", interval="week")["series"]
    assert len(weeks) in {5, 6}
    assert weeks[-1]["decisions"] == figures["decisions"]


def test_without_a_beginning_it_is_the_30_days_before_the_end(
    counted: str, manager: httpx.Client
) -> None:
    figures = ask(manager, "gates", until="2026-03-31T12:30:00Z")
    assert figures["since"] == "2026-03-01T12:00:00.000000Z"
    assert figures["evaluations"] == 0


def test_what_runs_cost(counted: str, manager: httpx.Client) -> None:
    spend = ask(manager, "spend", by="model")
    assert spend["total"]["cost_usd"] == "1.52"
    assert [(item["key"], item["cost_usd"]) for item in spend["items"]] == [
        ("big", "1.50"),
        ("small", "0.02"),
    ]
    by_label = ask(manager, "spend", by="label:team")["items"]
    assert [(item["key"], item["steps"]) for item in by_label] == [("red", 1)]
    dearest = ask(manager, "spend", by="run", limit=1)["items"]
    assert [item["key"] for item in dearest] == [counted]
    days = ask(manager, "spend", by="day")["items"]
    assert (len(days), days[-1]["cost_usd"]) in {(31, "1.52"), (32, "1.52")}


def test_a_table_that_no_spreadsheet_computes(
    counted: str, manager: httpx.Client
) -> None:
    answer = manager.get("/stats/spend.csv", params={"by": "run"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert [row["task"] for row in rows] == ["'=cmd|x", "Fix the flaky login test"]
    assert [row["cost_usd"] for row in rows] == ["1.50", "0.02"]
    by_label = manager.get("/stats/spend.csv", params={"by": "label:repo"})
    assert "'=1+1" in by_label.text


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("gates", {"interval": "year"}, "interval"),
        ("gates", {"since": "2020-01-01T00:00:00Z", "interval": "hour"}, "interval"),
        ("gates", {"until": "9999-12-31T23:59:59Z"}, "until"),
        ("gates", {"until": "0001-01-15T00:00:00Z"}, "until"),
        ("rules", {"until": "0001-01-15T00:00:00Z"}, "until"),
        ("reviewers", {"until": "0001-01-15T00:00:00Z"}, "until"),
        (
            "gates",
            {"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
            "since",
        ),
        ("gates", {"label": "repo"}, "label"),
        ("gates", {"reviewer": "bob"}, "reviewer"),
        ("spend", {"by": "planet"}, "by"),
        ("spend", {"by": "label:"}, "by"),
        ("spend", {"by": "label:repo", "label": "repo:shop"}, "label"),
        ("spend.csv", {"by": "planet"}, "by"),
        ("reviews", {"since": "yesterday"}, "since"),
    ],
)
def test_what_cannot_be_asked(
    path: str, query: dict[str, str], field: str, manager: httpx.Client
) -> None:
    refused = problem(manager.get(f"/stats/{path}", params=query), "invalid")
    assert fields(refused) == [f"query.{field}"]
