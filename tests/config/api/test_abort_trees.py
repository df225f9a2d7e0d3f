"""POST /runs/{run}/abort with `children`: every open run below it ends with it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from ledger.models import Entry, Run
from ledger.trees.descendants import list_open_below
from ledger.verification.verify import verify_run
from reviews import services
from tests.support.builders import pause_run, start_run
from tests.support.problems import problem

ABORT_ALL = {"reason": "wrong branch", "children": True}


def read_statuses(*codes: str) -> list[str]:
    found = {str(run.code): run.status for run in Run.objects.filter(code__in=codes)}
    return [found[code] for code in codes]


def list_abort_payloads(code: str) -> list[str]:
    entries = Entry.objects.filter(run__code=code, type="run.aborted")
    return list(entries.values_list("payload", flat=True))


class Tree:
    """Two children, one of which has ended, and a run below each of them."""

    def __init__(self, agent: httpx.Client) -> None:
        self.top = start_run(agent)
        self.child = start_run(agent, parent_run=self.top)
        self.ended = start_run(agent, parent_run=self.top)
        self.bottom = start_run(agent, parent_run=self.child)
        self.orphan = start_run(agent, parent_run=self.ended)
        agent.post(f"/runs/{self.ended}/finish", json={"outcome": "completed"})
        self.below = [self.child, self.bottom, self.orphan]


@pytest.fixture
def tree(agent: httpx.Client) -> Tree:
    return Tree(agent)


def test_an_abort_reaches_every_open_run_below(
    agent: httpx.Client, reviewer: httpx.Client, tree: Tree
) -> None:
    review = pause_run(agent, tree.bottom)["review"]["id"]
    bystander = start_run(agent)

    answer = reviewer.post(f"/runs/{tree.top}/abort", json=ABORT_ALL)

    assert answer.status_code == 200, answer.text
    assert answer.json()["id"] == tree.top
    assert answer.json()["status_reason"] == "wrong branch"
    assert answer.json()["children"] == {"running": 0, "total": 2}
    assert read_statuses(tree.top, *tree.below) == ["aborted"] * 4
    assert read_statuses(tree.ended, bystander) == ["completed", "running"]
    said = f"Aborted with run {tree.top} above it: wrong branch"
    for code in tree.below:
        run = Run.objects.get(code=code)
        assert run.status_reason == said
        assert list_abort_payloads(code) == [
            f'{{"above":"{tree.top}","cause":"run_above","reason":"{said}"}}'
        ]
        assert verify_run(run).ok
    assert reviewer.get(f"/reviews/{review}").json()["state"] == "superseded"


@pytest.mark.parametrize("body", [{}, {"children": False}])
def test_an_abort_ends_one_run_unless_told_otherwise(
    reviewer: httpx.Client, tree: Tree, body: dict[str, Any]
) -> None:
    reviewer.post(f"/runs/{tree.top}/abort", json=body)

    assert read_statuses(tree.top, *tree.below) == ["aborted", *["running"] * 3]


def test_an_abort_that_broke_off_goes_on_when_sent_again(
    reviewer: httpx.Client, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = list_open_below
    calls: list[list[UUID]] = []

    def break_off(run: Run) -> list[UUID]:
        calls.append(whole(run))
        if len(calls) > 1:
            raise ConnectionError
        return calls[0][:1]

    with monkeypatch.context() as patch:
        patch.setattr(services, "list_open_below", break_off)
        first = reviewer.post(f"/runs/{tree.top}/abort", json=ABORT_ALL)
    assert first.status_code == 500
    assert read_statuses(tree.top, *tree.below) == [*["aborted"] * 2, *["running"] * 2]

    again = reviewer.post(f"/runs/{tree.top}/abort", json=ABORT_ALL)

    assert again.status_code == 200, again.text
    assert read_statuses(tree.top, *tree.below) == ["aborted"] * 4
    for code in (tree.top, *tree.below):
        assert len(list_abort_payloads(code)) == 1
    once_more = reviewer.post(f"/runs/{tree.top}/abort", json=ABORT_ALL)
    assert problem(once_more, "run-closed")["run_status"] == "aborted"


def test_a_run_that_is_started_meanwhile_is_reached_too(
    agent: httpx.Client,
    reviewer: httpx.Client,
    tree: Tree,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = list_open_below
    late: list[str] = []

    def start_meanwhile(run: Run) -> list[UUID]:
        found = whole(run)
        if not late:
            late.append(start_run(agent, parent_run=tree.bottom))
        return found

    monkeypatch.setattr(services, "list_open_below", start_meanwhile)
    reviewer.post(f"/runs/{tree.top}/abort", json=ABORT_ALL)

    assert read_statuses(tree.top, *tree.below, *late) == ["aborted"] * 5


def test_a_run_that_ended_meanwhile_stays_as_it_ended(
    agent: httpx.Client,
    reviewer: httpx.Client,
    tree: Tree,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = list_open_below

    def finish_meanwhile(run: Run) -> list[UUID]:
        found = whole(run)
        agent.post(f"/runs/{tree.bottom}/finish", json={"outcome": "completed"})
        return found

    monkeypatch.setattr(services, "list_open_below", finish_meanwhile)
    answer = reviewer.post(f"/runs/{tree.top}/abort", json=ABORT_ALL)

    assert answer.status_code == 200, answer.text
    assert read_statuses(tree.child, tree.bottom) == ["aborted", "completed"]


def test_runs_below_one_that_has_finished_can_be_ended_through_it(
    reviewer: httpx.Client, tree: Tree
) -> None:
    answer = reviewer.post(f"/runs/{tree.ended}/abort", json=ABORT_ALL)

    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert read_statuses(tree.orphan, tree.child) == ["aborted", "running"]
