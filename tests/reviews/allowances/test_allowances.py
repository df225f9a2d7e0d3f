"""A pause is approved for the next steps: the agent asks once, and the ledger says so."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Project
from console.runs.sentences.allowances import describe_allowed
from guidance.core.policy import load_policy
from ledger.backtest.engine import judge_history
from ledger.backtest.judges import BothJudgements
from ledger.models import Entry, Run
from ledger.writer import get_writer
from tests.conftest import client_for
from tests.support.builders import Person, make_policy, start_run, step
from tests.support.live import Live
from tests.support.people import get_seen, rule
from tests.support.problems import problem
from tests.support.threads import at_once


def report(agent: httpx.Client, run: str, number: int, **more: Any) -> dict[str, Any]:
    body = step(number, **{"uncertainty": 0.9, **more})
    answer = agent.post(f"/runs/{run}/steps", json=body)
    assert answer.status_code == 201, answer.text
    decision: dict[str, Any] = answer.json()
    return decision


def allow(
    agent: httpx.Client, reviewer: httpx.Client, run: str, number: int = 1, **asked: Any
) -> str:
    """Pause the run by a step, and approve it with an allowance; returns the review."""
    review: str = report(agent, run, number)["review"]["id"]
    rule(reviewer, review, "approve", note="Fine so far", allowance=asked)
    return review


def list_entries(run: str, *types: str) -> list[tuple[Entry, dict[str, Any]]]:
    entries = Entry.objects.filter(run__code=run, type__in=types).order_by("seq")
    return [(entry, json.loads(entry.payload)) for entry in entries]


def check_ledger(run: str) -> None:
    call_command("replay", run=run)
    call_command("ledger_verify", run=run)


def refuse(
    reviewer: httpx.Client, review: str, allowance: Any, action: str = "approve"
) -> dict[str, Any]:
    body = {"action": action, **get_seen(reviewer, review), "allowance": allowance}
    answer = reviewer.post(f"/reviews/{review}/ruling", json=body)
    assert answer.status_code == 422, answer.text
    refused: dict[str, Any] = problem(answer, "invalid")["errors"][0]
    return refused


def test_the_ceiling_is_a_figure_for_people(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = report(agent, run, 1, uncertainty=0.8157894736842105)["review"]["id"]
    rule(reviewer, review, "approve", note="Fine", allowance={"steps": 20})

    assert (
        report(agent, run, 2, uncertainty=0.8157894736842105)["decision"] == "continue"
    )
    assert report(agent, run, 3, uncertainty=0.8159)["decision"] == "pause"
    ((_, given),) = list_entries(run, "allowance.given")
    assert given["up_to"] == 0.8158
    assert describe_allowed(given).head == "Allowed: uncertainty up to 0.8158"
    stored = {**given, "gate": "rework", "up_to": 0.3157894736842105}
    assert describe_allowed(stored).head == "Allowed: rework up to 31.58 %"
    check_ledger(run)


def test_an_agent_that_is_as_unsure_each_step_asks_once(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    review = allow(agent, reviewer, run, steps=3)

    (allowance,) = agent.get(f"/runs/{run}").json()["allowances"]
    assert allowance["gate"] == "uncertainty"
    assert allowance["up_to"] == 0.9
    assert (allowance["steps"], allowance["steps_left"]) == (3, 3)
    assert allowance["review"] == review
    assert allowance["by"] == bob.user.username

    answers = [report(agent, run, number) for number in (2, 3, 4)]
    assert [each["decision"] for each in answers] == ["continue"] * 3
    for answer in answers:
        assert answer["review"] is None
        assert answer["findings"][0]["allowance"] == allowance["id"]
    assert agent.get(f"/runs/{run}").json()["allowances"] == []
    shown = reviewer.get(f"/reviews/{review}").json()["allowance"]
    assert (shown["state"], shown["steps_left"]) == ("steps", 0)

    assert report(agent, run, 5)["decision"] == "pause"
    given, ended = list_entries(run, "allowance.given", "allowance.ended")
    assert given[1]["note"] == "Fine so far"
    assert given[1]["last_step"] == 4
    assert given[0].actor == given[1]["by"]
    assert ended[1]["reason"] == "steps"
    assert ended[1]["allowance"] == given[1]["allowance"] == allowance["id"]
    check_ledger(run)


def test_a_higher_value_and_another_signal_ask_again(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    allow(agent, reviewer, run, steps=20, up_to=0.9)
    assert report(agent, run, 2)["decision"] == "continue"

    above = report(agent, run, 3, uncertainty=0.91)
    assert above["decision"] == "pause"
    rule(reviewer, above["review"]["id"], "approve")

    # What was allowed before stands still.
    assert report(agent, run, 4)["decision"] == "continue"
    for number in (5, 6):
        report(agent, run, number, signature="a")
    repeated = report(agent, run, 7, signature="a")
    assert repeated["decision"] == "pause"
    assert [each["gate"] for each in repeated["findings"]] == [
        "uncertainty",
        "repetition",
    ]
    check_ledger(run)


def test_it_ends_with_its_time(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    allow(agent, reviewer, run, minutes=30)
    (allowance,) = agent.get(f"/runs/{run}").json()["allowances"]
    assert allowance["steps"] == 100  # as many as the policy permits
    assert report(agent, run, 2)["decision"] == "continue"

    late_at = timezone.now() + timedelta(minutes=31)
    monkeypatch.setattr(get_writer()._committer, "_read_clock", lambda: late_at)
    late = report(agent, run, 3)
    assert late["decision"] == "pause"
    (ended,) = list_entries(run, "allowance.ended")
    assert ended[1]["reason"] == "time"
    check_ledger(run)


def test_a_person_takes_it_back(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    auditor: httpx.Client,
    alice: Person,
    charlie: Person,
    live: Live,
) -> None:
    run = start_run(agent)
    review = allow(agent, reviewer, run, steps=20)
    (allowance,) = agent.get(f"/runs/{run}").json()["allowances"]
    path = f"/runs/{run}/allowances/{allowance['id']}/revoke"
    assert problem(auditor.post(path), "forbidden")
    with client_for(live, charlie) as outsider:
        assert problem(outsider.post(path), "not-found")
    assert agent.post(path).status_code in (401, 403)
    other = start_run(agent)
    assert problem(
        manager.post(f"/runs/{other}/allowances/{allowance['id']}/revoke"), "not-found"
    )

    answer = manager.post(path)
    assert answer.status_code == 200, answer.text
    assert answer.json()["allowances"] == []
    assert manager.post(path).status_code == 200  # taking back twice is taking back
    (ended,) = list_entries(run, "allowance.ended")
    assert ended[1]["reason"] == "revoked"
    shown = reviewer.get(f"/reviews/{review}").json()["allowance"]
    assert shown["state"] == "revoked"
    assert shown["ended_by"] == alice.user.username

    assert report(agent, run, 2)["decision"] == "pause"
    check_ledger(run)


def test_a_new_one_replaces_the_old(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    allow(agent, reviewer, run, steps=20, up_to=0.85)
    allow(agent, reviewer, run, 2, steps=5)
    (allowance,) = agent.get(f"/runs/{run}").json()["allowances"]
    assert (allowance["steps_left"], allowance["up_to"]) == (5, 0.9)
    (ended,) = list_entries(run, "allowance.ended")
    assert ended[1]["reason"] == "replaced"
    check_ledger(run)


def test_what_may_not_be_allowed(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    review = report(agent, run, 1)["review"]["id"]
    for allowance, place, words in [
        ({}, ["allowance"], "for how many steps or minutes"),
        ({"up_to": 0.9}, ["allowance"], "for how many steps or minutes"),
        ({"steps": 101}, ["allowance", "steps"], "at most 100"),
        ({"minutes": 481}, ["allowance", "minutes"], "at most 480"),
        ({"steps": 5, "up_to": 0.96}, ["allowance", "up_to"], "at most 0.95"),
        ({"steps": 5, "up_to": 0.8}, ["allowance", "up_to"], "nothing is asked anyway"),
    ]:
        refused = refuse(reviewer, review, allowance)
        assert refused["loc"] == place
        assert words in refused["message"]
    assert refuse(reviewer, review, {"steps": 0})["loc"][-1] == "steps"
    assert refuse(reviewer, review, {"steps": "5"})["loc"][-1] == "steps"
    assert (
        "only with approve"
        in refuse(reviewer, review, {"steps": 5}, "abort")["message"]
    )
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"

    # A question of the agent, and a gate without a figure.
    rule(reviewer, review, "approve")
    for number in (2, 3, 4):
        repeated = report(agent, run, number, uncertainty=0.1, signature="a")
    refused = refuse(reviewer, repeated["review"]["id"], {"steps": 5})
    assert refused["message"] == "repetition is asked about every time"
    rule(reviewer, repeated["review"]["id"], "approve")
    asked = agent.post(
        f"/runs/{run}/reviews", json={"kind": "request", "title": "May I?"}
    ).json()
    refused = refuse(reviewer, asked["id"], {"steps": 5})
    assert "only a paused run" in refused["message"]


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (
            {"reviews": {"severity": {"gates": {"uncertainty": "critical"}}}},
            "what is critical",
        ),
        ({"reviews": {"allowances": {"max_steps": 0}}}, "the policy asks every time"),
        (
            {"reviews": {"allowances": {"max_uncertainty": 0.5}}},
            "nothing over the limit",
        ),
    ],
)
@pytest.mark.once("judges a policy, not SQL")
def test_where_the_policy_asks_every_time(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    sections: dict[str, Any],
    words: str,
) -> None:
    make_policy("careful", project=project, **sections)
    review = report(agent, start_run(agent, policy="careful"), 1)["review"]["id"]
    assert words in refuse(reviewer, review, {"steps": 5})["message"]


def test_several_reviews_at_once_take_none(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    review = report(agent, start_run(agent), 1)["review"]["id"]
    body = {
        "items": [{"id": review, **get_seen(reviewer, review)}],
        "action": "approve",
        "allowance": {"steps": 5},
    }
    refused = reviewer.post("/reviews/bulk-ruling", json=body)
    assert refused.status_code == 422
    (error,) = problem(refused, "invalid")["errors"]
    assert error["loc"][-1] == "allowance"
    assert "on one review by itself" in error["message"]


def test_it_is_exact_when_steps_come_at_once(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """The same steps from four senders: each is judged once, and the one behind asks."""
    run = start_run(agent)
    allow(agent, reviewer, run, steps=4)
    for number in (2, 3, 4, 5):
        body = step(number, uncertainty=0.9)
        answers = at_once(*[partial(agent.post, f"/runs/{run}/steps", json=body)] * 4)
        assert {each.status_code for each in answers} == {201}
        assert {each.json()["decision"] for each in answers} == {"continue"}
    assert report(agent, run, 6)["decision"] == "pause"
    assert len(list_entries(run, "allowance.ended")) == 1
    check_ledger(run)


def test_a_batch_goes_on_until_it_is_used_up(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    allow(agent, reviewer, run, steps=3)
    bodies = [step(number, uncertainty=0.9) for number in range(2, 8)]
    answer = agent.post(f"/runs/{run}/steps/batch", json={"steps": bodies}).json()
    decisions = [each["decision"] for each in answer["decisions"]]
    assert decisions == ["continue", "continue", "continue", "pause"]
    check_ledger(run)


def test_taking_back_and_a_step_at_once_have_one_order(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    for _ in range(4):
        run = start_run(agent)
        allow(agent, reviewer, run, steps=5)
        (allowance,) = agent.get(f"/runs/{run}").json()["allowances"]
        path = f"/runs/{run}/allowances/{allowance['id']}/revoke"
        body = step(2, uncertainty=0.9)
        reported, revoked = at_once(
            partial(agent.post, f"/runs/{run}/steps", json=body),
            partial(reviewer.post, path),
        )
        assert revoked.status_code == 200
        order = [
            entry.type
            for entry, _ in list_entries(run, "step.judged", "allowance.ended")
        ][1:]
        went_on = reported.json()["decision"] == "continue"
        assert order == (
            ["step.judged", "allowance.ended"]
            if went_on
            else ["allowance.ended", "step.judged"]
        )
        check_ledger(run)


@pytest.mark.once("judges steps again, not SQL")
def test_a_draft_is_judged_on_what_people_allowed(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    allow(agent, reviewer, run, steps=2)
    report(agent, run, 2)
    report(agent, run, 3, uncertainty=0.75)
    report(agent, run, 4, uncertainty=0.75)

    def judge(document: dict[str, Any]) -> list[tuple[str, str]]:
        draft = load_policy(document)
        return [
            (each.outcome.before["decision"], each.outcome.after["decision"])
            for page in judge_history(Run.objects.filter(code=run), draft=draft)
            for each in page.judged
            if isinstance(each.outcome, BothJudgements)
        ]

    # With a lower limit the step behind the last that is allowed would ask.
    assert judge({"continue": {"max_uncertainty": 0.7}}) == [
        ("pause", "pause"),
        ("continue", "continue"),
        ("continue", "continue"),
        ("continue", "pause"),
    ]
    # A policy that permits no allowances would have asked.
    assert judge({"reviews": {"allowances": {"max_steps": 0}}})[1] == (
        "continue",
        "pause",
    )


def test_another_process_reads_it_from_the_run(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """It stands in the run's row: no state that is kept in memory is needed."""
    run = start_run(agent)
    allow(agent, reviewer, run, steps=2)
    stored = Run.objects.get(code=run)
    assert "allowances" in json.loads(stored.memory)
    assert get_writer() is not None
    assert report(agent, run, 2)["decision"] == "continue"
    assert report(agent, run, 3)["decision"] == "continue"
    assert "allowances" not in json.loads(Run.objects.get(code=run).memory)
