"""Several plans of one run, one after the other: each keeps what became of it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import httpx
import time_machine

from ledger.models import Entry, Run
from reviews.agent_plans.selectors import list_plans as read_plans
from tests.gateway.calls.calls import command, rule
from tests.gateway.plans.planning import (
    Plan,
    approve,
    bash,
    build_plan,
    build_step,
    list_plans,
    rule_plan,
    submit,
)
from tests.gateway.plans.test_plan_rulings import assert_sound
from tests.reviews.halts.halting import halt, release
from tests.support.builders import Person, start_run, step
from tests.support.problems import problem

HOUR = timedelta(hours=1)
TICK = timedelta(microseconds=1)


def build(title: str, **limits: object) -> Plan:
    calls = bash("rm -rf a", count=3), bash("rm -rf b", count=2)
    return build_plan(build_step(*calls), title=title, **limits)


def test_each_keeps_its_own_state_count_and_times(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, bob: Person
) -> None:
    run, other = start_run(agent), start_run(agent)
    approve(agent, reviewer, other, build("Another run's"))
    approve(agent, reviewer, run, build("First"))
    for text in ("rm -rf a", "rm -rf b"):
        assert command(agent, run, text)["decision"] == "allow"
    outside = command(agent, run, "rm -rf c")
    assert rule(reviewer, outside, "deny").status_code == 200
    (first,) = list_plans(agent, run)
    assert (first["state"], first["calls_outside"]) == ("standing", 1)
    assert (first["steps"][0]["used"], first["steps"][0]["left"]) == (2, 3)
    assert first["ended_at"] is None

    denied = submit(agent, run, build("Denied"))
    assert rule_plan(reviewer, denied, "deny").status_code == 200
    approve(agent, manager, run, build("Second", time_ms=7_200_000))
    assert command(agent, run, "rm -rf a")["decision"] == "allow"
    submit(agent, run, build("Waits"))

    waits, second, refused, before = list_plans(agent, run)
    assert [each["title"] for each in (waits, second, refused, before)] == [
        *("Waits", "Second", "Denied", "First")
    ]
    assert [each["state"] for each in (waits, second, refused, before)] == [
        *("submitted", "standing", "denied", "replaced")
    ]
    for each in (waits, refused):
        moments = [each[f"{name}_at"] for name in ("approved", "ends", "ended")]
        assert moments == [None] * 3
        assert (each["approved_by"], each["calls_outside"]) == (None, 0)
        assert (each["steps"][0]["used"], each["steps"][0]["left"]) == (0, 0)
    assert (second["calls_outside"], second["ended_at"]) == (0, None)
    assert (second["steps"][0]["used"], second["steps"][0]["left"]) == (1, 4)
    assert (before["calls_outside"], before["steps"][0]["used"]) == (1, 2)
    assert before["steps"][0]["left"] == 0
    assert before["ended_at"] == second["approved_at"]
    for name in ("approved_at", "approved_by", "ends_at", "submitted_at"):
        assert before[name] == first[name], name
    assert before["approved_by"] == bob.user.username != second["approved_by"]
    approved, ends = (
        datetime.fromisoformat(second[name]) for name in ("approved_at", "ends_at")
    )
    assert ends - approved == 2 * HOUR
    (theirs,) = list_plans(agent, other)
    assert (theirs["title"], theirs["steps"][0]["used"]) == ("Another run's", 0)

    aborted = rule_plan(reviewer, {"id": waits["review"]}, "abort")
    assert aborted.status_code == 200, aborted.text
    states = [each["state"] for each in list_plans(reviewer, run)]
    assert states == ["aborted", "run_ended", "denied", "replaced"]
    for code in (run, other):
        assert_sound(code)


def test_its_time_is_over_at_the_moment_and_not_while_it_is_halted(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    run, over = start_run(agent), start_run(agent)
    stopped = start_run(agent, budget={"tokens": 10})
    for each in (run, over, stopped):
        approve(agent, reviewer, each, build("Tidy", time_ms=1_800_000))
    agent.post(f"/runs/{over}/finish", json={"outcome": "completed"})
    decision = agent.post(f"/runs/{stopped}/steps", json=step(1)).json()
    assert decision["decision"] == "stop"
    ends_at = datetime.fromisoformat(list_plans(agent, run)[0]["ends_at"])

    def look(code: str, at: datetime) -> tuple[str, datetime | None]:
        row = Run.objects.get(code=code)
        with time_machine.travel(at, tick=False):
            (plan,) = read_plans(row)
        return plan.state, plan.ended_at

    assert look(run, ends_at - TICK) == ("standing", None)
    assert look(run, ends_at) == ("time", ends_at)
    for each in (over, stopped):
        finished_at = Run.objects.get(code=each).finished_at
        for at in (ends_at - HOUR / 4, ends_at + HOUR):
            assert look(each, at) == ("run_ended", finished_at)
    made = halt(manager, {"run": run})
    assert look(run, ends_at + HOUR) == ("standing", None)
    release(manager, made)
    assert look(run, ends_at + HOUR)[0] == "time"


def test_what_a_plan_cannot_cover_is_no_part_of_what_was_approved(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """Its numbers stay those that people saw."""
    run = start_run(agent)
    texts = ("rm -rf src", "rm -rf out/a", "rm -rf lib", "rm -rf out/b")
    steps = build_step(*map(bash, texts), paths=["out"])
    review = submit(agent, run, build_plan(steps))
    changed = {"title": "Changed", "steps": [steps]}
    refused = rule_plan(reviewer, review, "amend", amended=changed)
    place = ["amended", "steps", 0, "calls", 0]
    (error,) = problem(refused, "invalid")["errors"]
    assert error["loc"] == place
    assert "no plan covers rm -rf src" in error["message"]
    assert list_plans(agent, run)[0]["state"] == "submitted"

    assert rule_plan(reviewer, review).status_code == 200
    (plan,) = list_plans(agent, run)
    calls = plan["steps"][0]["calls"]
    assert [each["covered"] for each in calls] == [False, True, False, True]
    assert [each["left"] for each in calls] == [0, 1, 0, 1]
    entry = Entry.objects.get(run__code=run, type="plan.approved")
    (stored,) = json.loads(entry.payload)["steps"]
    assert [each["number"] for each in stored["calls"]] == [2, 4]
    assert command(agent, run, "rm -rf out/b")["decision"] == "allow"
    (plan,) = list_plans(agent, run)
    assert [each["used"] for each in plan["steps"][0]["calls"]] == [0, 0, 0, 1]
    asked = command(agent, run, "rm -rf src")
    assert asked["decision"] == "require-confirmation"
    assert_sound(run)
