"""The fleet against a real server: it fills the queue, obeys, and ends when told."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from accounts.models import AgentKey, Project
from accounts.services import revoke_agent_key
from demo.agents.profiles import PROFILES
from demo.fleet import Fleet
from demo.policies import assign_demo_policies
from ledger.models import Entry
from reviews.policies.assignments import list_assignments
from tests.support.builders import make_robot
from tests.support.live import Live

# Twenty times as fast as the demo.
FAST = 0.05


@contextmanager
def at_work(fleet: Fleet, url: str) -> Iterator[Fleet]:
    fleet.start(url)
    try:
        yield fleet
    finally:
        fleet.stop()


def keys_for(project: Project, *names: str) -> dict[str, str]:
    return {name: make_robot(name, project=project).key for name in names}


def until(condition: Callable[[], Any], *, seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.05)
    return found


def open_reviews(person: httpx.Client) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = person.get("/reviews?state=open").json()["items"]
    return items


def runs(person: httpx.Client, status: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = person.get(f"/runs?status={status}").json()["items"]
    return items


def rule(
    person: httpx.Client, review: dict[str, Any], action: str, **more: Any
) -> None:
    seen = {"version": review["version"], "content_digest": review["content_digest"]}
    if action == "answer":
        more["answer"] = "keep 402"
    answer = person.post(
        f"/reviews/{review['id']}/ruling", json={"action": action, **seen, **more}
    )
    assert answer.status_code == 200, answer.text


def test_a_tree_of_runs_uses_up_the_day_of_its_agent(
    live: Live, project: Project, manager: httpx.Client
) -> None:
    """Children that pass and fail their evaluators, notices, and a stop by the limit."""
    keys = keys_for(project, "upgrade-lead")
    make_robot("shop-janitor", project=project)
    assign_demo_policies(project)
    with at_work(Fleet(keys, time_factor=0.01), live.url):
        stopped = until(lambda: runs(manager, "stopped"), seconds=60)
    assert "This agent's tokens for today are used up" in stopped[0]["status_reason"]
    trees = manager.get("/runs?limit=200").json()["items"]
    lead = trees[-1]
    below = {run["id"]: run for run in trees if run["parent_run"] == lead["id"]}
    assert (lead["status"], len(below)) == ("completed", 3)
    assert {run["accepted"] for run in below.values()} == {True, False}
    assert any(run["parent_run"] in below for run in trees)
    told = Entry.objects.filter(project=project, type="limit.noticed")
    assert 75 in {json.loads(entry.payload)["percent"] for entry in told}


def test_the_demo_policies_are_given_once(project: Project) -> None:
    for name in ("upgrade-lead", "shop-janitor"):
        make_robot(name, project=project)
    assign_demo_policies(project)
    assign_demo_policies(project)
    assigned = list_assignments(project.pk)
    assert [each.policy for each in assigned] == ["upgrades", "cleaning"]


def test_the_queue_lives_soon_and_rulings_are_obeyed(
    live: Live, project: Project, reviewer: httpx.Client
) -> None:
    keys = keys_for(project, *(profile.name for profile in PROFILES))
    with at_work(Fleet(keys, time_factor=FAST), live.url) as fleet:
        waiting = until(
            lambda: (found := open_reviews(reviewer)) and len(found) >= 10 and found
        )
        assert {review["kind"] for review in waiting} == {
            "pause",
            "question",
            "request",
            "confirmation",
            "exhausted",
            "plan",
        }
        for review in waiting:
            actions = {"question": "answer", "exhausted": "retry"}
            rule(reviewer, review, actions.get(review["kind"], "approve"))
        # A plan leads to another question.
        ruled = {it["run"] for it in waiting if it["kind"] != "plan"}
        until(lambda: ruled <= {run["id"] for run in runs(reviewer, "completed")})
        stopped = until(lambda: runs(reviewer, "stopped"))
        assert {run["agent"] for run in stopped} == {"data-backfill"}
        until(lambda: fleet.counts.decisions["checkpoint"])
    assert fleet.counts.ruled >= 10
    assert {"retry", "warned", "exhausted", "passed"} <= set(fleet.counts.verdicts)
    assert {"auto_continue", "needs_human"} <= set(fleet.counts.turns)
    assert {"allow", "warn", "require-confirmation"} <= set(fleet.counts.calls)
    assert {"continue", "checkpoint", "throttle", "pause", "stop"} <= set(
        fleet.counts.decisions
    )
    assert fleet.counts.errors == 0


HARMLESS = {"command": "git status --short"}


@pytest.mark.parametrize(
    ("action", "more", "told"),
    [
        ("approve", {}, ["call.claimed", "call.settled"]),
        ("amend", {"amended": HARMLESS}, ["call.claimed", "call.settled"]),
        ("deny", {"note": "Not today"}, []),
    ],
)
def test_of_its_calls_it_makes_those_that_were_granted(
    live: Live,
    project: Project,
    reviewer: httpx.Client,
    action: str,
    more: dict[str, Any],
    told: list[str],
) -> None:
    keys = keys_for(project, "release-pilot")
    with at_work(Fleet(keys, time_factor=FAST), live.url) as fleet:
        (review,) = until(lambda: open_reviews(reviewer))
        rule(reviewer, review, action, **more)
        until(lambda: review["run"] in {r["id"] for r in runs(reviewer, "completed")})
    entries = [
        json.loads(line)
        for line in reviewer.get(f"/runs/{review['run']}/ledger").text.splitlines()
    ]
    kinds = [entry["type"] for entry in entries]
    ruled = kinds.index("review.ruled")
    after = [kind for kind in kinds[ruled + 1 :] if kind.startswith("call.")]
    assert after == told
    if told:
        granted = entries[ruled]["payload"]["grant"]["digest"]
        claimed, settled = (
            entry["payload"]
            for entry in entries[ruled:]
            if entry["type"].startswith("call.")
        )
        assert claimed["digest"] == granted
        assert settled["ok"]
    # The harmless ones before it were made, too.
    assert "call.settled" in kinds[:ruled]
    assert fleet.counts.errors == 0


def test_of_its_plan_it_does_what_was_approved_and_asks_for_the_rest(
    live: Live, project: Project, reviewer: httpx.Client
) -> None:
    keys = keys_for(project, "build-pruner")
    with at_work(Fleet(keys, time_factor=FAST), live.url) as fleet:
        (review,) = until(lambda: open_reviews(reviewer))
        assert review["kind"] == "plan"
        assert all(
            call["covered"]
            for planned in review["content"]["steps"]
            for call in planned["calls"]
        )
        rule(reviewer, review, "approve")
        (asked,) = until(lambda: open_reviews(reviewer))
        path = f"/runs/{review['run']}/plans"
        (plan,) = reviewer.get(path).json()["items"]
        used = [(step["used"], step["left"]) for step in plan["steps"]]
        assert used == [(4, 0), (1, 0), (1, 0), (0, 1)]
        assert plan["calls_outside"] == 1
        rule(reviewer, asked, "deny", note="The next build needs it.")
        until(lambda: review["run"] in {r["id"] for r in runs(reviewer, "completed")})
    assert asked["run"] == review["run"]
    (plan,) = reviewer.get(path).json()["items"]
    assert plan["state"] == "used"
    assert fleet.counts.errors == 0


@pytest.mark.parametrize(
    ("action", "note", "outcomes"),
    [
        ("retry", "Mock the clock", ["retry", "exhausted", "passed"]),
        ("skip", "A known flake", ["retry", "exhausted"]),
    ],
)
def test_a_check_that_is_not_passed_goes_by_the_ruling(
    live: Live,
    project: Project,
    reviewer: httpx.Client,
    action: str,
    note: str,
    outcomes: list[str],
) -> None:
    keys = keys_for(project, "checkout-tester")
    with at_work(Fleet(keys, time_factor=FAST), live.url) as fleet:
        (review,) = until(lambda: open_reviews(reviewer))
        rule(reviewer, review, action, note=note)
        until(lambda: review["run"] in {r["id"] for r in runs(reviewer, "completed")})
    check = review["content"]["check"]
    judged = [
        entry["payload"]
        for line in reviewer.get(f"/runs/{review['run']}/ledger").text.splitlines()
        for entry in [json.loads(line)]
        if entry["type"] == "check.judged" and entry["payload"]["check"] == check
    ]
    assert [payload["outcome"] for payload in judged] == outcomes
    if action == "retry":
        assert "by the reviewer's guidance" in judged[-1]["verdict"]["rationale"]
    assert fleet.counts.errors == 0


def test_an_aborted_run_is_left_and_another_one_started(
    live: Live, project: Project, reviewer: httpx.Client
) -> None:
    keys = keys_for(project, "search-reindex")
    with at_work(Fleet(keys, time_factor=FAST), live.url) as fleet:
        (review,) = until(lambda: open_reviews(reviewer))
        rule(reviewer, review, "abort")
        until(lambda: fleet.counts.runs >= 2)
    assert [run["id"] for run in runs(reviewer, "aborted")] == [review["run"]]


def test_a_fleet_takes_up_what_an_earlier_one_left_waiting(
    live: Live, project: Project, reviewer: httpx.Client
) -> None:
    keys = keys_for(project, "pr-triage")
    with at_work(Fleet(keys, time_factor=FAST), live.url):
        (review,) = until(lambda: open_reviews(reviewer))
    with at_work(Fleet(keys, time_factor=FAST), live.url) as fleet:
        until(lambda: fleet.counts.runs)  # what was left is taken up before that
        rule(reviewer, review, "answer")
        until(lambda: review["run"] in {r["id"] for r in runs(reviewer, "completed")})


def test_it_keeps_trying_while_no_server_answers() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with at_work(Fleet({"nightly-deps": "crk_x"}), url) as fleet:
            until(lambda: fleet.counts.errors >= 2)
    assert fleet.counts.runs == 0


def test_it_stops_at_once_while_agents_wait(
    live: Live,
    project: Project,
    reviewer: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("demo.fleet.STOP_SECONDS", 60.0)
    fleet = Fleet(keys_for(project, "search-reindex"), time_factor=FAST)
    with at_work(fleet, live.url):
        until(lambda: open_reviews(reviewer))
        fleet.stop()
        assert fleet._thread is not None
        assert not fleet._thread.is_alive()


def test_an_agent_without_a_good_key_goes_home(
    live: Live, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    keys = keys_for(project, "nightly-deps")
    for key in AgentKey.objects.filter(agent__project=project):
        revoke_agent_key(key=key)
    with caplog.at_level("INFO"), at_work(Fleet(keys), live.url):
        until(lambda: "no longer valid" in caplog.text)
