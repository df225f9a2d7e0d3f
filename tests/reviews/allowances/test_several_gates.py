"""A run is allowed something for two gates: each stands and ends by itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx

from ledger.models import Run
from reviews.allowances.selectors import GivenAllowance, find_allowance
from reviews.models import Review
from tests.reviews.allowances.test_allowances import (
    allow,
    check_ledger,
    list_entries,
    report,
)
from tests.reviews.halts.halting import halt, release
from tests.support.builders import Person, start_run
from tests.support.people import rule
from tests.support.problems import problem

HOUR = timedelta(hours=1)


def list_standing(agent: httpx.Client, run: str) -> dict[str, dict[str, Any]]:
    """By the gate."""
    found = agent.get(f"/runs/{run}").json()["allowances"]
    return {each["gate"]: each for each in found}


def allow_rework(
    agent: httpx.Client, person: httpx.Client, run: str, *, first: int, note: str = ""
) -> tuple[str, int]:
    """Report rework until it pauses the run, and approve that with an allowance; returns
    the review and the number of the next step."""
    for number in range(first, first + 20):
        decision = report(agent, run, number, uncertainty=0.1, rework=True)
        if decision["decision"] == "pause":
            review: str = decision["review"]["id"]
            rule(person, review, "approve", note=note, allowance={"steps": 40})
            return review, number + 1
    raise AssertionError("The run was not paused.")


def find(review: str, **at: Any) -> GivenAllowance | None:
    return find_allowance(Review.objects.get(code=review), **at)


def get_states(client: httpx.Client, *reviews: str) -> list[str]:
    shown = [client.get(f"/reviews/{review}").json() for review in reviews]
    return [each["allowance"]["state"] for each in shown]


def test_one_of_another_gate_stands_whatever_ends_beside_it(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    unsure = allow(agent, reviewer, run, steps=40, up_to=0.9)
    before = list_standing(agent, run)["uncertainty"]
    rework, number = allow_rework(agent, reviewer, run, first=2)
    standing = list_standing(agent, run)
    assert set(standing) == {"uncertainty", "rework"}
    assert standing["uncertainty"]["id"] == before["id"]
    assert standing["uncertainty"]["ends_at"] == before["ends_at"]
    assert list_entries(run, "allowance.ended") == []
    assert get_states(reviewer, unsure, rework) == ["standing", "standing"]
    for review, gate in ((unsure, "uncertainty"), (rework, "rework")):
        shown = reviewer.get(f"/reviews/{review}").json()["allowance"]
        told = {name: shown[name] for name in standing[gate]}
        assert told == standing[gate]
    assert report(agent, run, number)["decision"] == "continue"

    above = report(agent, run, number + 1, uncertainty=0.94)["review"]["id"]
    rule(reviewer, above, "approve", allowance={"steps": 2})
    kept = list_standing(agent, run)["rework"]
    assert kept["id"] == standing["rework"]["id"]
    assert get_states(reviewer, unsure, rework, above) == [
        *("replaced", "standing", "standing")
    ]
    for more in (2, 3):
        assert report(agent, run, number + more)["decision"] == "continue"
    assert set(list_standing(agent, run)) == {"rework"}
    assert get_states(reviewer, unsure, rework, above) == [
        *("replaced", "standing", "steps")
    ]

    again = report(agent, run, number + 4)["review"]["id"]
    rule(reviewer, again, "approve", allowance={"steps": 9})
    path = f"/runs/{run}/allowances/{kept['id']}/revoke"
    assert reviewer.post(path).status_code == 200
    assert set(list_standing(agent, run)) == {"uncertainty"}
    assert get_states(reviewer, unsure, rework, above, again) == [
        *("replaced", "revoked", "steps", "standing")
    ]
    ended = [
        (payload["review"], payload["gate"], entry.actor)
        for entry, payload in list_entries(run, "allowance.ended")
    ]
    person = bob.principal.actor
    assert ended == [
        (unsure, "uncertainty", person),
        (above, "uncertainty", "system:continue-gate"),
        (rework, "rework", person),
    ]
    check_ledger(run)


def test_a_note_that_names_another_review_says_nothing_of_that(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    first = allow(agent, reviewer, run, steps=40)
    note = f"As in {first}"
    second, _ = allow_rework(agent, reviewer, run, first=2, note=note)
    at = Run.objects.get(code=run).updated_at
    for review, gate, said in (
        (first, "uncertainty", "Fine so far"),
        (second, "rework", note),
    ):
        found = find(review, at=at)
        assert found is not None
        assert (found.allowance.gate, found.note) == (gate, said)


def test_only_an_allowance_of_the_run_is_taken_back(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """Its entry names others too: the review that it was given on."""
    run, other = start_run(agent), start_run(agent)
    review = allow(agent, reviewer, run, steps=9)
    allow(agent, reviewer, other, steps=9)
    for code in (review, run, list_standing(agent, other)["uncertainty"]["id"]):
        path = f"/runs/{run}/allowances/{code}/revoke"
        problem(reviewer.post(path), "not-found")
    for each in (run, other):
        assert set(list_standing(agent, each)) == {"uncertainty"}
        assert list_entries(each, "allowance.ended") == []


def test_its_end_is_told_by_the_clock_to_the_moment(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    review = allow(agent, reviewer, run, steps=9, minutes=30)
    (entry, _), *_ = list_entries(run, "allowance.given")
    ends_at = entry.at + HOUR / 2
    tick = timedelta(microseconds=1)
    stands, over = find(review, at=ends_at - tick), find(review, at=ends_at)
    assert stands is not None
    assert over is not None
    assert (stands.state, stands.ended_at, stands.steps_left) == ("standing", None, 9)
    assert (over.state, over.ended_at, over.steps_left) == ("time", ends_at, 0)
    assert stands.by == over.by == bob.user.username
    assert stands.taken_back_by is over.taken_back_by is None
    made = halt(manager)
    held = find(review, at=ends_at + HOUR)
    assert held is not None
    assert (held.state, held.steps_left) == ("standing", 9)
    release(manager, made)
    released = find(review, at=ends_at + HOUR)
    assert released is not None
    assert released.state == "time"


def test_its_end_is_that_of_the_run_however_much_time_goes_by(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    finished, stopped = start_run(agent), start_run(agent, budget={"tokens": 2_500})
    reviews = [
        allow(agent, reviewer, run, steps=9, minutes=30) for run in (finished, stopped)
    ]
    agent.post(f"/runs/{finished}/finish", json={"outcome": "completed"})
    for number in (2, 3):
        decision = report(agent, stopped, number)
    assert decision["decision"] == "stop"
    for run, review in zip((finished, stopped), reviews, strict=True):
        row = Run.objects.get(code=run)
        for later in (HOUR / 4, HOUR):
            found = find(review, at=row.updated_at + later)
            assert found is not None
            assert (found.state, found.steps_left) == ("run_ended", 0)
            assert found.ended_at == row.finished_at
        check_ledger(run)


def test_where_nothing_was_allowed_nothing_is_told(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """Beside one in the same run that was given before."""
    run = start_run(agent)
    given = allow(agent, reviewer, run, steps=1)
    report(agent, run, 2)
    once = report(agent, run, 3)["review"]["id"]
    at = Run.objects.get(code=run).updated_at
    assert find(once, at=at) is None  # it waits
    rule(reviewer, once, "approve")
    assert find(once, at=at) is None
    asked = {"kind": "request", "title": "May I?"}
    question = agent.post(f"/runs/{run}/reviews", json=asked).json()["id"]
    rule(reviewer, question, "approve")
    assert find(question, at=at) is None
    found = find(given, at=at)
    assert found is not None
    assert found.state == "steps"


def test_as_much_as_the_policy_permits_may_be_allowed(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    allow(agent, reviewer, run, steps=100, minutes=480, up_to=0.95)
    allowance = list_standing(agent, run)["uncertainty"]
    assert (allowance["steps"], allowance["up_to"]) == (100, 0.95)
    (entry, _), *_ = list_entries(run, "allowance.given")
    found = find(allowance["review"], at=entry.at)
    assert found is not None
    assert found.allowance.ends_at == entry.at + 8 * HOUR
    assert report(agent, run, 2, uncertainty=0.95)["decision"] == "continue"
    assert report(agent, run, 3, uncertainty=0.951)["decision"] == "pause"
