"""Decisions that a draft leaves as they are: kept by their places, listed from the ledger."""

from __future__ import annotations

import httpx
import pytest

from reviews.models import Backtest
from reviews.policies.backtest.unchanged import UnchangedItems
from tests.gateway.calls.calls import command
from tests.reviews.policies.trials import run
from tests.support.builders import start_run, step


@pytest.fixture
def backtest(
    agent: httpx.Client, manager: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> Backtest:
    """Over two runs of five steps and two calls each, read a few entries at a time."""
    monkeypatch.setattr("ledger.backtest.history.PAGE", 4)
    for _ in range(2):
        code = start_run(agent)
        for number in range(1, 6):
            agent.post(
                f"/runs/{code}/steps", json=step(number, summary=f"Step {number}")
            )
        command(agent, code, "ls")
        command(agent, code, "rm -rf src")
    found = run(manager, document={"tools": {"rules": {"delete-folder": "warn"}}})
    return Backtest.objects.get(code=found["id"])


def test_any_stretch_of_them_is_the_same_as_in_the_whole_list(
    backtest: Backtest,
) -> None:
    items = UnchangedItems(backtest)
    whole = [(item.run_id, item.seq) for item in items]
    assert len(items) == len(set(whole)) == len(whole) == 12
    assert backtest.unchanged.count() > 4, "There are several rows to go through."
    assert [run_id for run_id, _ in whole] == sorted(
        (run_id for run_id, _ in whole), reverse=True
    )
    for first in range(12):
        for last in (first + 1, first + 5, 40):
            found = [(item.run_id, item.seq) for item in items[first:last]]
            assert found == whole[first:last], (first, last)
    assert items[3].seq == whole[3][1]


def test_they_are_found_by_kind_and_decision_and_say_what_they_were_about(
    backtest: Backtest,
) -> None:
    (steps, calls) = (
        UnchangedItems(backtest, kind=kind, decision=decision)
        for kind, decision in (("step", "continue"), ("call", "allow"))
    )
    assert [item.subject for item in steps][:5] == [f"Step {n}" for n in range(1, 6)]
    assert [(item.subject, item.move) for item in calls] == [("ls", "allow→allow")] * 2
    assert len(UnchangedItems(backtest, kind="call", decision="block")) == 0


def test_they_are_counted_once_when_a_backtest_begins_again(
    backtest: Backtest, manager: httpx.Client
) -> None:
    backtest.unchanged.create(kind="step", decision="stop", count=1, places="[]")
    Backtest.objects.filter(pk=backtest.pk).update(state="waiting")
    run(manager, version=1)
    assert len(UnchangedItems(backtest)) == 12
