"""Runs as CSV: the whole result, safe in a spreadsheet, and bounded."""

from __future__ import annotations

import csv
import io

import httpx
import pytest

from accounts.models import Project
from ledger.run_list import csv_export
from tests.support.builders import start_run, step


def read(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(
        csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline=""))
    )


def test_the_whole_result_comes_in_the_order_of_the_list(
    agent: httpx.Client, manager: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_export, "_PAGE", 2)
    runs = []
    for number in range(1, 6):
        run = start_run(agent, task=f"Task {number}", labels={"repo": "shop"})
        agent.post(f"/runs/{run}/steps", json=step(1, cost_usd=f"0.{number}"))
        runs.append(run)
    start_run(agent, task="Another")

    rows = read(manager.get("/runs.csv", params={"q": "task", "sort": "cost"}))

    assert [row["id"] for row in rows] == runs
    assert [row["cost_usd"] for row in rows] == [f"0.{n}0" for n in range(1, 6)]
    assert rows[0]["labels"] == "repo=shop"
    assert rows[0]["status"] == "running"
    assert len(read(agent.get("/runs.csv"))) == 6


def test_no_cell_is_taken_for_a_formula(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    start_run(agent, task=" =HYPERLINK(1)")
    (row,) = read(manager.get("/runs.csv"))
    assert (row["task"], row["steps"], row["accepted"]) == ("' =HYPERLINK(1)", "0", "")


def test_a_long_result_ends_with_words(
    project: Project,
    agent: httpx.Client,
    manager: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(csv_export, "_PAGE", 2)
    monkeypatch.setattr(csv_export, "ROWS_LIMIT", 2)
    for _ in range(3):
        start_run(agent)

    rows = read(manager.get("/runs.csv"))

    assert len(rows) == 3
    assert rows[-1]["id"] == "Only the first 2 runs are listed."


def test_a_query_that_means_nothing_is_refused(manager: httpx.Client) -> None:
    assert manager.get("/runs.csv?sort=id").status_code == 422
    assert manager.get("/runs.csv?cursor=x").status_code == 422
