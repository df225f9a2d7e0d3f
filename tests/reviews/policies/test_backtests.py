"""Drafts are tried over stored history by a worker, and everybody can look at it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from ledger.backtest.engine import JudgedPage, judge_history
from ledger.jobs import perform as jobs
from reviews.models import Backtest, BacktestItem
from reviews.policies.backtest import perform, services
from reviews.policies.backtest.selectors import find_result
from reviews.tasks import run_backtests
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.calls.calls import rule as rule_call
from tests.reviews.policies.trials import get, run, start
from tests.support.builders import (
    Person,
    Robot,
    make_policy,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import fields, problem

UNSURE = {"continue": {"max_uncertainty": 0.2}}


def report(agent: httpx.Client, run: str, *figures: float) -> None:
    for number, uncertainty in enumerate(figures, 1):
        body = step(number, uncertainty=uncertainty, summary=f"Work {number}")
        agent.post(f"/runs/{run}/steps", json=body)


@pytest.fixture
def history(agent: httpx.Client, reviewer: httpx.Client) -> dict[str, str]:
    """One run that was aborted, one that goes on, and three calls that people ruled on."""
    aborted, going = start_run(agent), start_run(agent)
    report(agent, aborted, 0.1, 0.3)
    reviewer.post(f"/runs/{aborted}/abort", json={"reason": "It goes in circles"})
    report(agent, going, 0.3)
    for text, action in (("one", "approve"), ("two", "approve"), ("three", "deny")):
        call = command(agent, going, f"git push --force origin {text}")
        rule_call(reviewer, call, action)
    return {"aborted": aborted, "going": going}


def test_a_draft_says_what_it_changes_and_whether_people_agree(
    manager: httpx.Client, history: dict[str, str]
) -> None:
    draft = {**UNSURE, "tools": {"rules": {"git-push-force": "warn"}}}
    found = run(manager, document=draft)

    assert (found["state"], found["reason"]) == ("finished", None)
    assert found["progress"]["done"] == found["progress"]["total"] > 0
    assert (found["judged"], found["changed"], found["unknown"]) == (6, 5, 0)
    assert found["moves"] == {
        "require-confirmation→warn": 3,
        "continue→pause": 2,
    }
    gates = found["by_gate"]
    assert (gates["destructive"], gates["uncertainty"]) == (3, 2)
    assert (found["would_have_asked"], found["would_not_have_asked"]) == (2, 3)
    # Of two pauses that it adds one was in a run that a person ended; of three calls that
    # it asks nobody about, people denied one.
    assert found["agrees_with_people"] == {
        "agree": 3,
        "disagree": 1,
        "silent": 1,
        "asked_more": {"total": 2, "runs": 2, "run_aborted": 1},
        "asked_less": {"total": 3, "approve": 2, "deny": 1},
    }
    assert found["examples"][0]["people"] == "disagree"
    assert found["examples"][0]["ruling"] == "deny"
    assert get(manager, found["id"]) == found


def test_every_number_opens_its_list_with_both_judgements(
    manager: httpx.Client, reviewer: httpx.Client, history: dict[str, str]
) -> None:
    code = run(manager, document=UNSURE)["id"]

    for query in (
        {"gate": "uncertainty"},
        {"move": "continue→pause"},
        {"asks": "more"},
    ):
        assert get(reviewer, code, "/items", **query)["total"] == 2
    assert get(reviewer, code, "/items", people="agree")["total"] == 1
    for query in (
        {"gate": "rework"},
        {"rule": "x"},
        {"kind": "call"},
        {"asks": "less"},
    ):
        assert get(reviewer, code, "/items", **query) == {
            "items": [],
            "next_cursor": None,
            "total": 0,
        }
    first = get(reviewer, code, "/items", limit=1)
    second = get(reviewer, code, "/items", limit=1, cursor=first["next_cursor"])
    (one,), (two,) = first["items"], second["items"]
    assert second["next_cursor"] is None
    assert {one["run"], two["run"]} == set(history.values())
    last = one if one["run"] == history["aborted"] else two
    assert (last["step"], last["subject"], last["seq"]) == (2, "Work 2", 3)
    assert (last["before"]["decision"], last["before"]["findings"]) == ("continue", [])
    assert last["after"]["decision"] == "pause"
    assert last["after"]["findings"][0]["gate"] == "uncertainty"
    assert last["after"]["findings"][0]["limit"] == 0.2


def test_only_what_was_asked_for_is_judged(
    manager: httpx.Client,
    agent: httpx.Client,
    live: Live,
    project: Project,
    history: dict[str, str],
) -> None:
    make_policy("other", project=project)
    elsewhere = start_run(agent, policy="other")
    report(agent, elsewhere, 0.3)
    with client_for(live, make_robot("second", project=project)) as second:
        report(second, start_run(second), 0.3)

    def count(name: str = "default", **body: Any) -> int:
        judged: int = run(manager, name, document=UNSURE, **body)["judged"]
        return judged

    assert count() == 7
    assert count("other") == 1
    assert count("new") == count(runs="all") == 8
    assert count(agent="second") == 1
    assert count(run=history["aborted"]) == 2
    assert count(limit=3) == 3
    assert count(until="2026-01-01T00:00:00Z") == 0


def test_a_stored_version_need_not_be_in_force(
    manager: httpx.Client, project: Project, history: dict[str, str]
) -> None:
    make_policy("default", project=project, **UNSURE)
    make_policy("default", project=project)
    assert run(manager, version=2)["moves"] == {"continue→pause": 2}
    answer = manager.post("/policies/default/backtest", json={"version": 9})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, []),
        ({"document": {}, "version": 1}, []),
        ({"document": {"continue": {"max_rework_ratio": 7, "x": 1}}}, None),
        ({"yaml": "continue:\n  max_rework_ratio: 7\n"}, None),
        ({"document": {}, "since": "yesterday"}, ["since"]),
        ({"document": {}, "since": "2026-11-01T00:00:00"}, ["since"]),
        ({"document": {}, "since": 7}, ["since"]),
        ({"document": {}, "agent": "nobody"}, ["agent"]),
        ({"document": {}, "run": str(uuid4())}, ["run"]),
        ({"document": {}, "limit": 0}, ["limit"]),
        (
            {
                "document": {},
                "since": "2026-11-02T00:00:00Z",
                "until": "2026-11-01T00:00:00Z",
            },
            ["since"],
        ),
    ],
)
def test_what_cannot_be_tried_is_refused_in_words(
    manager: httpx.Client,
    project: Project,
    body: dict[str, Any],
    where: list[str] | None,
) -> None:
    answer = manager.post("/policies/default/backtest", json=body)

    refused = problem(answer, "invalid")
    if where:
        assert fields(refused) == where
    assert not Backtest.objects.filter(project=project).exists()


def test_every_error_of_a_draft_is_named_with_its_place(manager: httpx.Client) -> None:
    text = "continue:\n  max_rework_ratio: 7\n  unheard: 1\n"
    answer = manager.post("/policies/default/backtest", json={"yaml": text})
    refused = problem(answer, "invalid")
    assert fields(refused) == [
        "yaml.continue.max_rework_ratio",
        "yaml.continue.unheard",
    ]
    first, second = (each["message"] for each in refused["errors"])
    assert first == "must be from 0 to 1 (line 2, column 3)"
    assert second.endswith("(line 3, column 3)")


def test_one_that_was_cancelled_stays_as_far_as_it_came(
    manager: httpx.Client, history: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker notices it at its next sign, and writes nothing more."""
    run_backtests()  # what other tests have left
    code = start(manager, document=UNSURE)
    judge = judge_history
    monkeypatch.setattr(jobs, "SIGN_S", 0)
    monkeypatch.setattr("ledger.backtest.history.PAGE", 1)

    pages: list[JudgedPage] = []

    def cancel_after_first(*args: Any, **named: Any) -> Iterator[JudgedPage]:
        for page in judge(*args, **named):
            pages.append(page)
            yield page
            if len(pages) == 1:
                answer = manager.post(f"/backtests/{code}/cancel")
                assert answer.json()["state"] == "cancelled"

    monkeypatch.setattr(perform, "judge_history", cancel_after_first)
    run_backtests()

    assert len(pages) == 2, "the second one is judged when the worker notices"
    found = get(manager, code)
    assert found["state"] == "cancelled"
    assert 0 < found["progress"]["done"] < found["progress"]["total"]
    assert found["ended_at"] is not None
    run_backtests()
    assert get(manager, code) == found


def test_one_that_waits_can_be_cancelled_and_one_that_ended_stays(
    manager: httpx.Client, history: dict[str, str]
) -> None:
    waiting = start(manager, document=UNSURE)
    manager.post(f"/backtests/{waiting}/cancel")
    run_backtests()
    assert (get(manager, waiting)["state"], get(manager, waiting)["judged"]) == (
        "cancelled",
        0,
    )
    ended = run(manager, document=UNSURE)
    assert manager.post(f"/backtests/{ended['id']}/cancel").json() == ended


def test_a_failure_is_kept_in_words(
    manager: httpx.Client, history: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_named: Any) -> Iterator[JudgedPage]:
        raise ConnectionError("the disk is full")

    monkeypatch.setattr(perform, "judge_history", fail)

    found = run(manager, document=UNSURE)

    assert found["state"] == "failed"
    assert found["reason"] == (
        "It could not be finished. The log of the server says why."
    )


def lose_worker(code: str, **more: Any) -> None:
    """As a worker leaves it that was killed half-way."""
    seen: datetime = timezone.now() - timedelta(minutes=5)
    Backtest.objects.filter(code=code).update(
        state="running", worker=uuid4(), attempts=1, seen_at=seen, **more
    )


def test_one_whose_worker_died_is_run_again_from_the_start(
    manager: httpx.Client, history: dict[str, str]
) -> None:
    code = start(manager, document=UNSURE)
    run_backtests()
    whole = get(manager, code)
    lose_worker(code)

    run_backtests()

    again = get(manager, code)
    assert again["state"] == "finished"
    assert again["moves"] == whole["moves"]
    assert BacktestItem.objects.filter(backtest__code=code).count() == 2


def test_a_worker_that_is_only_slow_keeps_its_backtest(
    manager: httpx.Client, history: dict[str, str]
) -> None:
    code = start(manager, document=UNSURE)
    lose_worker(code)
    Backtest.objects.filter(code=code).update(seen_at=timezone.now())

    run_backtests()

    found = get(manager, code)
    assert (found["state"], found["judged"]) == ("running", 0)


def test_one_that_kills_its_workers_is_given_up(
    manager: httpx.Client, history: dict[str, str]
) -> None:
    code = start(manager, document=UNSURE)
    lose_worker(code)
    Backtest.objects.filter(code=code).update(attempts=jobs.ATTEMPTS)

    run_backtests()

    found = get(manager, code)
    assert found["state"] == "failed"
    assert "ended 3 times" in found["reason"]


def test_so_many_may_wait_and_so_many_are_kept(
    manager: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "UNENDED_LIMIT", 2)
    monkeypatch.setattr(services, "KEPT", 2)
    first = start(manager, document={})
    start(manager, document={})
    refused = manager.post("/policies/default/backtest", json={"document": {}})
    problem(refused, "rate-limited")
    run_backtests()
    newest = start(manager, document={})
    codes = Backtest.objects.filter(project=project).values_list("code", flat=True)
    assert str(first) not in {str(code) for code in codes}
    assert newest in {str(code) for code in codes}


def test_a_pause_that_is_no_longer_asked_for_is_compared_with_its_ruling(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, robo: Robot
) -> None:
    code = start_run(agent)
    rule(reviewer, pause_at_once(agent, code), "approve")
    rule(reviewer, pause_at_once(agent, code, number=2), "abort")

    found = run(manager, document={"continue": {"max_uncertainty": 0.99}})

    assert found["agrees_with_people"]["asked_less"] == {
        "total": 2,
        "approve": 1,
        "abort": 1,
    }
    assert found["agrees_with_people"]["disagree"] == 1


def test_the_newest_finished_trial_of_the_very_document_is_found(
    project: Project, alice: Person
) -> None:
    """Each of the others differs in one column alone, and is newer."""
    at = timezone.now()

    def add(**changes: Any) -> Backtest:
        row = {
            "project": project,
            "policy": "default",
            "document": "{}",
            "state": "finished",
            "since": at,
            "until": at,
            "created_by": alice.user,
            **changes,
        }
        return Backtest.objects.create(**row)

    assert find_result(project.pk, "default", "{}") is None
    add()
    newest = add()
    for change in (
        {"project": make_project()},
        {"policy": "other"},
        {"document": '{"checks":{}}'},
        {"state": "running"},
        {"state": "failed"},
    ):
        add(**change)
    found = find_result(project.pk, "default", "{}")
    assert found is not None
    assert found["id"] == str(newest.code)
