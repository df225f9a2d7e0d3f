"""A destructive action: nothing without a person's word, once with it; AP-01 to AP-03."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import Project
from ledger.models import Run
from loop.control.clock import run_cycle
from loop.models import Decision
from reviews.models import Review
from reviews.rulings.expiry import expire_due_reviews
from tests.console.queue.panes import open_desk
from tests.loop.saying import (
    CLEAN_UP,
    COMPLETE,
    KINDS,
    REPAIR,
    events,
    get_decision,
    loop_policy,
    loop_runs,
    outcome,
    sound,
)
from tests.reviews.rulings.test_expiry import overdue
from tests.support.builders import Person, make_policy
from tests.support.people import get_seen, rule
from tests.support.problems import problem
from tests.support.threads import at_once

pytestmark = pytest.mark.once("judges signals, not SQL")


@pytest.fixture
def held(agent: httpx.Client, project: Project) -> dict[str, Any]:
    """A decision that waits for an approval."""
    loop_policy(project, caps_per_hour={"start_loop": 1})
    return outcome(agent, project, COMPLETE)


def again(client: httpx.Client, held: dict[str, Any]) -> dict[str, Any]:
    return get_decision(client, held["decision_id"])


def test_the_loop_has_no_session_of_its_own(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    """It needs no owner where the policy takes rulings from inside agents' sessions."""
    wanted = {"kinds": KINDS, "rules": [REPAIR, CLEAN_UP]}
    wanted["caps_per_hour"] = {"start_loop": 1}
    trusting = {"rulings_from_agents": True}
    make_policy("default", project=project, loop=wanted, reviews=trusting)
    review = outcome(agent, project, COMPLETE)["review"]["id"]

    answer = reviewer.post(
        f"/reviews/{review}/ruling",
        json={"action": "approve", **get_seen(reviewer, review)},
        headers={"Checkrail-Agent-Session": "claude-code:0192"},
    )

    assert answer.json()["state"] == "ruled"


def test_approved_it_is_emitted_exactly_once(
    reviewer: httpx.Client, project: Project, held: dict[str, Any]
) -> None:
    review = held["review"]["id"]
    body = {"action": "approve", **get_seen(reviewer, review)}
    rule(reviewer, review, "approve", note="Go ahead")
    told = again(reviewer, held)
    assert told["outcome"] == "approved_and_emitted"
    assert told["approval_required"] is True
    assert told["resolved_at"] is not None
    (event,) = events(project)
    assert event == told["event"]
    assert (event["kind"], event["decision_id"]) == ("cleanup", held["decision_id"])
    problem(reviewer.post(f"/reviews/{review}/ruling", json=body), "already-ruled")
    run_cycle(project.pk)
    assert events(project) == [event]
    (run,) = loop_runs(project)
    assert (run.status, run.open_reviews) == ("running", "[]")
    sound(project)


@pytest.mark.parametrize("ending", ["deny", "expiry", "abort"])
def test_denied_expired_or_aborted_it_never_is(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
    held: dict[str, Any],
    ending: str,
) -> None:
    """AP-03: what nobody answers ends where everybody can see it."""
    review = held["review"]["id"]
    (run,) = loop_runs(project)
    if ending == "deny":
        rule(reviewer, review, "deny", note="Not today")
    elif ending == "expiry":
        overdue(review)
        expire_due_reviews()
        assert reviewer.get(f"/reviews/{review}").json()["state"] == "expired"
    else:
        manager.post(f"/runs/{run.code}/abort", json={"reason": "Enough"})
    told = again(reviewer, held)
    assert (told["outcome"], told["event"]) == ("approval_denied", None)
    assert events(project) == []
    run.refresh_from_db()
    assert run.status == ("aborted" if ending == "abort" else "running")
    # Its place in the hour is free again, and the loop goes on.
    assert outcome(agent, project, about="x")["outcome"] == "emitted"
    if ending != "expiry":  # the test moved the run's own row there
        sound(project)


def test_approve_and_deny_at_once_are_one_ruling(
    reviewer: httpx.Client, manager: httpx.Client, agent: httpx.Client, project: Project
) -> None:
    """AP-02."""
    loop_policy(project, caps_per_hour={"start_loop": 100})
    for number in range(5):
        held = outcome(agent, project, COMPLETE, number=number)
        review = held["review"]["id"]
        before = len(events(project))
        body = get_seen(reviewer, review)
        path = f"/reviews/{review}/ruling"
        answers = at_once(
            partial(reviewer.post, path, json={"action": "approve", **body}),
            partial(manager.post, path, json={"action": "deny", **body}),
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        approved = answers[0].status_code == 200
        end = "approved_and_emitted" if approved else "approval_denied"
        assert again(agent, held)["outcome"] == end
        assert len(events(project)) - before == approved
    sound(project)


def test_what_needs_no_approval_is_emitted_without_one(
    agent: httpx.Client, project: Project
) -> None:
    """AP-01."""
    loop_policy(project)
    told = outcome(agent, project, about="x")
    assert (told["outcome"], told["approval_required"]) == ("emitted", False)
    assert not Review.objects.filter(project=project).exists()


def test_an_approval_is_judged_by_how_things_stand_when_it_comes(
    manager: httpx.Client,
    agent: httpx.Client,
    project: Project,
    held: dict[str, Any],
) -> None:
    """Switch, cap and policy: a refusal leaves the review open and emits nothing."""
    review = held["review"]["id"]
    body = {"action": "approve", **get_seen(manager, review)}
    path = f"/reviews/{review}/ruling"
    manager.post("/loop/switch", json={"paused": True, "reason": "Fire drill"})
    told = problem(manager.post(path, json=body), "run-paused")
    assert "Fire drill" in told["detail"]
    manager.post("/loop/switch", json={"paused": False})

    an_hour_ago = timezone.now() - timedelta(hours=2)
    Decision.objects.filter(code=held["decision_id"]).update(counted_at=an_hour_ago)
    assert outcome(agent, project, about="x")["outcome"] == "emitted"
    late = manager.post(path, json=body)
    assert "in the last hour, the cap is 1" in problem(late, "rate-limited")["detail"]
    assert 3_500 < int(late.headers["retry-after"]) <= 3_601

    loop_policy(project, kinds=[], rules=[])
    assert (
        "policy has changed"
        in problem(manager.post(path, json=body), "invalid")["detail"]
    )
    assert again(agent, held)["outcome"] == "approval_required"
    assert len(events(project)) == 1

    loop_policy(project, caps_per_hour={"start_loop": 2})
    assert manager.post(path, json=body).status_code == 200
    assert len(events(project)) == 2
    sound(project)


def test_waiting_approvals_keep_their_place_so_that_nobody_is_flooded(
    agent: httpx.Client, project: Project
) -> None:
    loop_policy(project, caps_per_hour={"start_loop": 2})
    told = [outcome(agent, project, COMPLETE, n=n)["outcome"] for n in range(4)]
    assert told == ["approval_required"] * 2 + ["rate_limited"] * 2
    assert Review.objects.filter(project=project, state="open").count() == 2


def test_the_database_itself_refuses_harm_without_a_word(
    project: Project, held: dict[str, Any]
) -> None:
    row = Decision.objects.filter(code=held["decision_id"])
    with pytest.raises(IntegrityError), transaction.atomic():
        row.update(outcome="emitted")


def test_a_person_sees_what_would_run_and_why_they_are_asked(
    alice: Person, project: Project, agent: httpx.Client
) -> None:
    harmful = {"name": "wipe", "description": "Wipes <b>disks</b>."}
    rule_ = {
        "name": "r",
        "when": {},
        "do": "start_loop",
        "kind": "wipe",
        "parameters": {"disk": "{data.disk}"},
        "reason": "Disk {data.disk} is full.",
    }
    loop_policy(project, kinds=[harmful], rules=[rule_])
    held = outcome(agent, project, disk="</pre><script>\u202e")
    desk = open_desk(alice, project, held)
    pane = desk.look()
    assert "Start the loop wipe?" in pane.text
    assert "wipe is marked as destructive" in pane.part("Why you are asked")
    assert "Disk </pre><script>" in pane.text
    assert "Wipes <b>disks</b>." in pane.text
    assert "script" not in pane.kinds
    assert "\u202e" not in pane.html
    dock = pane.html[pane.html.index('<form class="dock"') :]
    assert 'value="approve"' in dock
    assert 'value="deny"' in dock
    assert 'data-dialog="abort"' not in dock
    assert "it is denied" in pane.text
    denied = desk.rule("deny", text="No")
    assert "You denied this" in denied.text


def test_the_queue_and_the_run_show_it(
    agent: httpx.Client, reviewer: httpx.Client, project: Project, held: dict[str, Any]
) -> None:
    listed = reviewer.get("/reviews?state=open&kind=loop_action").json()["items"]
    (review,) = listed
    assert review["rulings"] == ["approve", "deny"]
    assert review["on_expiry"] == "deny"
    assert review["agent"] == "system-loop"
    assert review["content"]["loop"] == "cleanup"
    run = Run.objects.get(code=held["run"])
    assert run.status == "running"  # one action waits, the loop does not
