"""BU rows: alerts of a budget, for the day of a project."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import Entry
from tests.gateway.calls.calls import command
from tests.gateway.limits.test_tree_budgets import report
from tests.support.builders import make_policy, start_run


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    limits = {"project_day": {"tokens": 10_000, "cost_usd": "1.00"}}
    make_policy("default", project=project, limits=limits)
    return start_run(agent)


def list_notices(run: str) -> list[tuple[str, int]]:
    entries = Entry.objects.filter(run__code=run, type="limit.noticed").order_by("seq")
    told = [json.loads(entry.payload) for entry in entries]
    return [(each["part"], each["percent"]) for each in told]


def get_day(manager: httpx.Client) -> dict[str, Any]:
    items = manager.get("/limits").json()["items"]
    found: dict[str, Any] = next(
        each for each in items if each["scope"] == "project_day"
    )
    return found


def test_bu_01_500_and_300_tokens_of_10000_are_8_percent(
    agent: httpx.Client, manager: httpx.Client, run: str
) -> None:
    for number, tokens in enumerate((500, 300), 1):
        report(agent, run, number, tokens=tokens)
    assert get_day(manager)["tokens"]["share"] == 0.08


def test_bu_02_to_04_and_10_one_notice_at_75_90_and_95_percent(
    agent: httpx.Client, run: str
) -> None:
    for number, tokens in enumerate((7_500, 100, 1_400, 500, 100), 1):
        assert report(agent, run, number, tokens=tokens)["decision"] == "continue"
    assert list_notices(run) == [("tokens", 75), ("tokens", 90), ("tokens", 95)]


def test_bu_05_and_09_over_is_stopped_and_within_again_once_it_is_raised(
    agent: httpx.Client, manager: httpx.Client, run: str
) -> None:
    other = start_run(agent)
    assert report(agent, run, 1, tokens=10_500)["decision"] == "stop"
    assert get_day(manager)["share"] == 1.05
    assert command(agent, other, "ls")["decision"] == "block"
    body = {"scope": "project_day", "tokens": 10_500, "reason": "A new day's worth"}
    assert manager.post("/limits/raise", json=body).status_code == 200
    assert get_day(manager)["share"] < 1
    assert command(agent, other, "ls")["decision"] == "allow"


def test_bu_06_two_parts_are_two_notices(agent: httpx.Client, run: str) -> None:
    report(agent, run, 1, tokens=8_000, cost_usd="0.91")
    assert list_notices(run) == [("tokens", 75), ("cost_micros", 90)]
