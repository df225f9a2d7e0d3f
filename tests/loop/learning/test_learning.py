"""Learn: a week in figures, and recommendations from what people and runs really did."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from common.errors import Invalid
from config.celery import app
from ledger.models import ProjectHead, Run
from loop.control.clock import run_cycle
from loop.inbox.recommendations import end_recommendation
from loop.learning import learn as learning
from loop.learning.iso_week import Week
from loop.learning.learn import learn, learn_if_due
from loop.learning.weekly import build_summary
from loop.models import Decision, ProjectLoop, Recommendation
from loop.tasks import learn as learn_task
from reviews.models import Review
from reviews.policies.services import activate_version
from tests.gateway.calls.calls import command
from tests.gateway.calls.calls import rule as rule_on_call
from tests.gateway.checks.test_flows import fail, open_new_check
from tests.loop.history import live_through
from tests.loop.saying import sound
from tests.support.builders import (
    Person,
    Robot,
    make_policy,
    pause_at_once,
    start_run,
    step,
)
from tests.support.people import rule
from tests.support.problems import problem
from tests.support.threads import at_once

FEW = {"at_least": 2, "share": 1.0}
LEARN = {"gate_skipped": FEW, "always_approved": FEW, "runs_failed": FEW}
OWN = {"name": "deploys", "pattern": "deploy", "decision": "require-confirmation"}


def learner(project: Project, **more: Any) -> None:
    make_policy(
        "default",
        project=project,
        loop={"learn": {**LEARN, **more}, "signals_from": {"run_ends": False}},
        gates={
            "style": {
                "name": "Style",
                "severity": "high",
                "mode": "blocking",
                "criteria": ["The linter is quiet"],
                "retry": {"max_attempts": 1},
            }
        },
        tools={"patterns": [{**OWN, "message": "A deployment"}]},
    )


def get_recommendations(project: Project) -> dict[str, Recommendation]:
    rows = Recommendation.objects.filter(project=project).order_by("pk")
    return {row.key: row for row in rows}


def finish_run(agent: httpx.Client, outcome: str) -> None:
    run = start_run(agent)
    answer = agent.post(f"/runs/{run}/finish", json={"outcome": outcome})
    assert answer.status_code == 200, answer.text


def test_what_people_and_runs_did_is_counted_and_recommended_once(
    agent: httpx.Client, reviewer: httpx.Client, project: Project, alice: Person
) -> None:
    learner(project)
    for _ in range(2):
        run = start_run(agent)
        agent.post(f"/runs/{run}/steps", json=step(1))
        told = fail(agent, run, open_new_check(agent, run, "style"))
        rule(reviewer, told["review"]["id"], "skip", note="Not for this one")
        for text in ("deploy now", "rm -rf build"):
            call = command(agent, run, text)
            answer = rule_on_call(reviewer, call, "approve")
            assert answer.status_code == 200, answer.text
        rule(reviewer, pause_at_once(agent, run, number=2), "approve")
        agent.post(f"/runs/{run}/finish", json={"outcome": "failed"})
    # One that was not approved as it was, one that nobody ruled on.
    run = start_run(agent)
    rule_on_call(reviewer, command(agent, run, "git push --force"), "deny")
    command(agent, run, "rm -rf dist")

    assert learn(project.pk) == 5
    rows = get_recommendations(project)
    assert set(rows) == {
        *("gate-skipped/style", "rule-approved/deploys", "pause-approved/uncertainty"),
        *("rule-approved/delete-folder", "runs-failed/robo"),
    }
    gate = rows["gate-skipped/style"]
    assert gate.title == "Gate style was skipped 2 of 2 times"
    assert gate.actor == "system:loop"
    assert json.loads(gate.evidence) == {
        "subject": "gate-skipped",
        "name": "style",
        "times": 2,
        "of": 2,
        "days": 30,
    }
    wanted = {"gates": {"style": {"mode": "advisory"}}}
    assert json.loads(gate.change) == {"policy": "default", "set": wanted}
    assert set(json.loads(rows["runs-failed/robo"].change)) == {"advice"}
    assert learn(project.pk) == 0

    (told, *_) = reviewer.get("/loop/recommendations").json()["items"]
    assert told["evidence"]["days"] == 30
    # Adopted and activated, the gate holds nobody any more; and it is said once.
    end_recommendation(row=gate, person=alice.principal, adopt=True, based_on=2)
    activate_version(project_id=project.pk, name="default", number=3)
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    assert open_new_check(agent, run, "style")["enforcement_mode"] == "advisory"
    assert learn(project.pk) == 0
    sound(project)


def test_what_was_answered_rests_until_its_facts_are_past(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    learner(project, days=7)
    for _ in range(2):
        finish_run(agent, "failed")
    assert learn(project.pk) == 1
    row = Recommendation.objects.get(project=project)
    end_recommendation(row=row, person=alice.principal, adopt=False)
    assert learn(project.pk) == 0
    Recommendation.objects.filter(pk=row.pk).update(
        ended_at=timezone.now() - timedelta(days=8)
    )
    assert learn(project.pk) == 1
    assert Recommendation.objects.filter(project=project, key=row.key).count() == 2
    # What happened before these days counts no more.
    Recommendation.objects.filter(project=project).update(key="")
    Run.objects.filter(project=project).exclude(finished_at=None).update(
        finished_at=timezone.now() - timedelta(days=8)
    )
    assert learn(project.pk) == 0


def test_two_workers_and_many_ticks_learn_once_a_day(
    agent: httpx.Client, project: Project
) -> None:
    learner(project)
    for _ in range(2):
        finish_run(agent, "failed")
    run_cycle(project.pk)

    def forget() -> None:
        Recommendation.objects.filter(project=project).update(key="")

    # The lock holds where the clock does not.
    assert sorted(at_once(*[partial(learn, project.pk)] * 2)) == [0, 1]
    forget()
    assert sorted(at_once(*[partial(learn_if_due, project.pk)] * 2)) == [0, 1]
    forget()
    assert learn_if_due(project.pk) == 0
    loops = ProjectLoop.objects.filter(project=project)
    loops.update(learned_at=timezone.now() - timedelta(hours=25))
    assert learn_if_due(project.pk) == 1


@pytest.mark.parametrize(
    "trouble", [Invalid("Its policy is broken."), KeyError("outcome")]
)
def test_the_task_comes_to_every_project_whatever_happens_in_one(
    agent: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    trouble: Exception,
) -> None:
    start_run(agent)
    came: list[int] = []

    def learn_or_fail(project_id: int) -> int:
        came.append(project_id)
        if project_id == project.pk:
            raise trouble
        return 2

    monkeypatch.setattr(learning, "learn_if_due", learn_or_fail)
    assert app.conf.beat_schedule["loop-learn"]["task"] == learn_task.name
    assert learn_task() == 2 * (len(came) - 1)
    heads = ProjectHead.objects.values_list("project_id", flat=True)
    assert sorted(came) == sorted(heads)


def test_advice_can_be_sent_and_nothing_else_without_a_change(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    body = {"title": "Rest", "change": {"advice": "Sleep on it"}}
    made = agent.post("/loop/recommendations", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["evidence"] is None
    for change in (
        {},
        {"advice": ""},
        {"advice": "x" * 2_001},
        {"advice": "a", "b": 1},
    ):
        answer = agent.post("/loop/recommendations", json={**body, "change": change})
        problem(answer, "invalid")
    code = made.json()["id"]
    adopted = manager.post(f"/loop/recommendations/{code}/adopt").json()
    assert adopted["state"] == "adopted"
    sound(project)


def test_a_week_in_figures(
    project: Project, robo: Robot, alice: Person, reviewer: httpx.Client
) -> None:
    history = live_through(project, robo, alice)
    this, last = (
        Week.from_moment(timezone.now()),
        Week.from_moment(timezone.now()).previous,
    )
    # Within one week, whichever day the test is run on.
    decisions = Decision.objects.filter(project=project)
    decisions.update(decided_at=this.begins + timedelta(hours=1))
    for row in decisions.select_related("signal"):
        row.signal.received_at = this.begins + timedelta(minutes=59)
        row.signal.save()
    shadow = {"proposal": None, "trouble": None, "model": "m"}
    for number, agrees in enumerate((True, True, False, None)):
        row = decisions.order_by("pk")[number]
        text = json.dumps({**shadow, "agrees": agrees})
        decisions.filter(pk=row.pk).update(shadow=text, cost_micros=150_000)
    # No agent's words count as ours.
    decisions.filter(pk=history.repeat.pk).update(
        guardrails=json.dumps([{"rail": "dedupe", "message": 'x "rail": "cap"'}])
    )
    reviewer.post("/loop/switch", json={"paused": True})
    told = reviewer.get("/loop/summary").json()
    assert told == {
        "project": project.slug,
        "week": this.name,
        "begins": told["begins"],
        "ends": told["ends"],
        "decisions": 13,
        "outcomes": {
            "apply_retro_recommendation": {"emitted": 1},
            "do_nothing": {"noop": 4},
            "emit_alert": {"deduplicated": 1, "emitted": 1},
            "process_notes": {"emitted": 1},
            "start_loop": {
                "approval_required": 1,
                "deduplicated": 1,
                "emitted": 2,
                "rate_limited": 1,
            },
        },
        "events": {"emitted": 5, "succeeded": 1, "failed": 0, "unreported": 4},
        "cost_usd": "0.60",
        "caps_hit": {"start_loop": 1},
        "approvals": {"asked": 1, "approved": 0, "denied": 0, "waiting": 1},
        "shadow": {"asked": 4, "agreed": 2, "disagreed": 1, "agreement": 2 / 3},
        "median_decide_ms": 60_000,
    }
    review = Review.objects.get(project=project)
    reviewer.post("/loop/switch", json={"paused": False})
    rule(reviewer, str(review.code), "deny")
    again = reviewer.get("/loop/summary", params={"week": this.name}).json()
    assert again["approvals"] == {"asked": 1, "approved": 0, "denied": 1, "waiting": 0}
    empty = reviewer.get("/loop/summary", params={"week": last.name}).json()
    assert (empty["decisions"], empty["median_decide_ms"]) == (0, None)
    assert empty["shadow"]["agreement"] is None
    for odd in ("2026-W54", "2025-W53", "2026-46", "9999-W52", "x", "2026-W1"):
        problem(reviewer.get("/loop/summary", params={"week": odd}), "invalid")


def test_the_median_is_the_middle_one_or_between_the_two(
    project: Project, robo: Robot, alice: Person
) -> None:
    live_through(project, robo, alice)
    week = Week.parse("2020-W01")  # long before any of them
    at = week.begins + timedelta(hours=1)
    rows = Decision.objects.filter(project=project).select_related("signal")
    medians = []
    for row, seconds in zip(rows.order_by("pk")[:4], (1, 60, 4, 2), strict=True):
        row.signal.received_at = at - timedelta(seconds=seconds)
        row.signal.save()
        rows.filter(pk=row.pk).update(decided_at=at)
        summary = build_summary(project.pk, week=week)
        medians.append(summary.to_json(project="")["median_decide_ms"])
    assert medians == [1_000, 30_500, 4_000, 3_000]


@pytest.mark.parametrize(
    ("name", "monday"),
    [
        ("2026-W01", "2025-12-29"),
        ("2026-W53", "2026-12-28"),
        ("2027-W01", "2027-01-04"),
    ],
)
def test_weeks_are_counted_as_iso_does(name: str, monday: str) -> None:
    week = Week.parse(name)
    assert (week.name, week.monday.isoformat()) == (name, monday)
    assert (
        week.following.previous
        == week
        == Week.from_moment(week.ends - timedelta(seconds=1))
    )
    assert Week.from_moment(week.ends) == week.following
