"""Where several people approve a pause, the least that one of them allows is given."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from reviews.models import ReviewApproval
from tests.console.queue.panes import open_desk
from tests.reviews.allowances.test_allowances import (
    check_ledger,
    list_entries,
    refuse,
    report,
)
from tests.support.builders import Person, make_policy, start_run
from tests.support.people import get_seen


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    four_eyes = {"approvals": 3, "severity": ["medium"]}
    make_policy("careful", project=project, four_eyes=four_eyes)
    return start_run(agent, policy="careful")


def approve(
    person: httpx.Client, review: str, allowance: dict[str, Any] | None, status: int
) -> dict[str, Any]:
    body = {"action": "approve", **get_seen(person, review), "allowance": allowance}
    answer = person.post(f"/reviews/{review}/ruling", json=body)
    assert answer.status_code == status, answer.text
    ruled: dict[str, Any] = answer.json()
    return ruled


def test_nobody_allows_more_than_those_before(
    agent: httpx.Client,
    run: str,
    reviewer: httpx.Client,
    manager: httpx.Client,
    admin: httpx.Client,
    bob: Person,
) -> None:
    review = report(agent, run, 1)["review"]["id"]
    approve(reviewer, review, {"steps": 20, "up_to": 0.92}, 202)
    assert agent.get(f"/runs/{run}").json()["allowances"] == []
    (first,) = manager.get(f"/reviews/{review}").json()["approved_by"]
    assert first["by"] == bob.user.username
    assert first["allowance"] == {
        "gate": "uncertainty",
        "up_to": 0.92,
        "steps": 20,
        "minutes": 480,
    }

    more = refuse(manager, review, {"steps": 21})
    assert more["message"] == "another approver allows at most 20"
    assert more["loc"] == ["allowance", "steps"]
    assert (
        "at most 0.92"
        in refuse(manager, review, {"steps": 5, "up_to": 0.93})["message"]
    )
    approve(manager, review, {"minutes": 30}, 202)
    assert "at most 30" in refuse(admin, review, {"minutes": 31})["message"]

    approve(admin, review, {"steps": 2}, 200)
    (given,) = agent.get(f"/runs/{run}").json()["allowances"]
    assert (given["steps"], given["up_to"]) == (2, 0.9)
    assert [report(agent, run, number)["decision"] for number in (2, 3, 4)] == [
        *("continue", "continue", "pause")
    ]
    approved = list_entries(run, "review.approved")
    assert [payload["allowance"]["steps"] for _, payload in approved] == [20, 20]
    assert [payload["allowance"]["minutes"] for _, payload in approved] == [480, 30]
    check_ledger(run)


def test_one_who_lets_it_go_on_only_once_decides_that_for_all(
    agent: httpx.Client,
    run: str,
    reviewer: httpx.Client,
    manager: httpx.Client,
    admin: httpx.Client,
) -> None:
    review = report(agent, run, 1)["review"]["id"]
    approve(reviewer, review, {"steps": 20}, 202)
    approve(manager, review, None, 202)
    assert "only once" in refuse(admin, review, {"steps": 1})["message"]
    approve(admin, review, None, 200)
    assert agent.get(f"/runs/{run}").json()["allowances"] == []
    assert report(agent, run, 2)["decision"] == "pause"
    stored = ReviewApproval.objects.filter(review__code=review).order_by("version")
    assert [row.allowance is None for row in stored] == [False, True]
    check_ledger(run)


@pytest.mark.once("looks at pages, not SQL")
def test_the_next_approver_sees_it_and_begins_with_it(
    agent: httpx.Client,
    run: str,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
    cleo: Person,
) -> None:
    decision = report(agent, run, 1)
    review = decision["review"]["id"]
    approve(reviewer, review, {"steps": 7, "minutes": 90, "up_to": 0.85}, 202)

    shown = open_desk(cleo, project, decision).look()
    assert "approved uncertainty up to 0.85 for 7 steps, 1 h 30 m at most" in shown.text
    assert 'max="7"' in shown.html
    assert 'value="0.85"' in shown.html

    approve(manager, review, None, 202)
    once = open_desk(cleo, project, decision).look()
    assert "approved this once" in once.text
    assert 'name="allow_steps"' not in once.html
