"""An agent that fills the queue is one item, and a manager closes all of it at once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from uuid import UUID

import httpx
import pytest

from accounts.auth import PersonPrincipal
from accounts.models import Agent, Project
from common.errors import DomainError, Forbidden, StaleVersion, Unavailable
from console.live.updates import View, build_updates
from console.runs.rows import get_live_position
from ledger.models import Entry, Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from reviews import close_flood
from reviews.models import Review
from reviews.queue.floods import Filling, count_open, read_filling
from reviews.services import submit_ruling_now
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.support.browsing import open_browser
from tests.support.builders import (
    Person,
    make_policy,
    make_robot,
    pause_at_once,
    start_run,
)
from tests.support.live import Live

CAP = 5


@pytest.fixture
def capped(project: Project) -> None:
    make_policy("default", project=project, caps={"open_reviews": {"agent": CAP}})


@pytest.fixture
def flooded(agent: httpx.Client, capped: None) -> list[str]:
    """Three calls, a pause and a question; returns the runs."""
    runs = [start_run(agent) for _ in range(CAP)]
    for run in runs[:3]:
        command(agent, run)
    pause_at_once(agent, runs[3])
    asked = {"kind": "question", "title": "Which one?", "detail": ""}
    assert agent.post(f"/runs/{runs[4]}/reviews", json=asked).status_code == 201
    return runs


def build_path(project: Project, name: str = "robo") -> str:
    code = Agent.objects.get(project=project, name=name).code
    return f"/p/{project.slug}/agents/{code}/reviews/"


def list_open_codes(project: Project, name: str = "robo") -> str:
    """What the form of the page carries: the open reviews that it listed."""
    found = Review.objects.filter(
        project=project, state="open", run__agent__name=name
    ).order_by("opened_at", "pk")
    return " ".join(str(review.code) for review in found)


def fill(project: Project) -> Filling:
    return read_filling(project_id=project.pk, total=count_open(project.pk))


def floods(project: Project) -> list[tuple[str, int, bool]]:
    return [(flood.agent, flood.count, flood.full) for flood in fill(project).floods]


def statuses(runs: list[str]) -> list[str]:
    known = {str(run.code): run.status for run in Run.objects.filter(code__in=runs)}
    return [known[run] for run in runs]


def test_an_agent_is_shown_near_its_cap_and_no_sooner(
    agent: httpx.Client, project: Project, capped: None
) -> None:
    seen = []
    for _ in range(CAP):
        seen.append(floods(project))
        command(agent, start_run(agent))
    seen.append(floods(project))

    near, full = [("robo", CAP - 1, False)], [("robo", CAP, True)]
    assert seen == [[], [], [], [], near, full]


def test_near_the_cap_of_the_project_it_is_said_who_fills_it(
    live: Live, agent: httpx.Client, project: Project
) -> None:
    caps = {"agent": 100, "project": 10, "critical_share": 0.1}
    make_policy("default", project=project, caps={"open_reviews": caps})
    for _ in range(7):
        command(agent, start_run(agent))
    assert fill(project) == Filling()
    with client_for(live, make_robot("rita", project=project)) as other:
        command(other, start_run(other))
        near = fill(project).crowd
        command(other, start_run(other))
        kept = fill(project).crowd
    assert near is not None
    assert kept is not None
    assert [(each.agent, each.count) for each in near.shares] == [
        ("robo", 7),
        ("rita", 1),
    ]
    assert (near.count, near.limit, near.agents, near.percent) == (8, 10, 2, 80)
    assert (near.refuses, near.full) == (False, False)
    assert (kept.count, kept.refuses, kept.full) == (9, True, False)
    assert fill(project).floods == ()


def test_the_fleet_counts_before_a_project_is_called_full(
    agent: httpx.Client, project: Project
) -> None:
    caps = {"agent": None, "project": 4, "project_per_agent": 6, "critical_share": 0}
    make_policy("default", project=project, caps={"open_reviews": caps})
    for _ in range(4):
        command(agent, start_run(agent))
    assert fill(project).crowd is None
    command(agent, start_run(agent))
    crowd = fill(project).crowd
    assert crowd is not None
    assert (crowd.count, crowd.limit, crowd.full) == (5, 6, False)
    command(agent, start_run(agent))
    crowd = fill(project).crowd
    assert crowd is not None
    assert crowd.full


def test_without_caps_nobody_is_shown(agent: httpx.Client, project: Project) -> None:
    caps = {"open_reviews": {"agent": None, "project": None}}
    make_policy("default", project=project, caps=caps)
    command(agent, start_run(agent))

    assert fill(project) == Filling()


def test_a_manager_denies_all_of_one_agent_at_once(
    live: Live,
    agent: httpx.Client,
    project: Project,
    alice: Person,
    bob: Person,
    flooded: list[str],
) -> None:
    with client_for(live, make_robot("rita", project=project)) as other:
        command(other, start_run(other))
    claimed = Review.objects.filter(run__code=flooded[0])
    claimed.update(assignee=bob.user)
    browser = open_browser(alice.user)

    shown = browser.get(build_path(project)).content.decode()
    assert "3 calls" in shown
    assert "1 pause" in shown
    said = {
        "action": "deny",
        "reason": "A loop gone wild",
        "codes": list_open_codes(project),
    }
    assert said["codes"] in shown
    done = browser.post(build_path(project), said, follow=True)

    assert "5 reviews closed." in done.content.decode()
    # Calls are denied and their runs go on; what cannot be denied ends its run.
    assert statuses(flooded) == ["running"] * 3 + ["aborted"] * 2
    entries = Entry.objects.filter(project=project, type="review.ruled")
    payloads = [json.loads(entry.payload) for entry in entries]
    assert Counter(each["action"] for each in payloads) == {"deny": 3, "abort": 2}
    assert {each["note"] for each in payloads} == {"A loop gone wild"}
    assert {entry.actor for entry in entries} == {alice.principal.actor}
    left = Review.objects.filter(project=project, state="open")
    assert [review.run.agent.name for review in left] == ["rita"]
    for run in Run.objects.filter(code__in=flooded):
        assert verify_run(run).ok
        assert replay_run(run).difference is None
    # There is room again.
    assert command(agent, flooded[0])["decision"] == "require-confirmation"


def test_a_manager_aborts_all_runs_that_wait(
    project: Project, alice: Person, flooded: list[str]
) -> None:
    said = {"action": "abort", "reason": "Not ours", "codes": list_open_codes(project)}
    done = open_browser(alice.user).post(build_path(project), said, follow=True)

    assert "5 reviews closed." in done.content.decode()
    assert set(statuses(flooded)) == {"aborted"}


def test_several_reviews_of_one_run_end_with_it(
    agent: httpx.Client, project: Project, alice: Person, capped: None
) -> None:
    run = start_run(agent)
    for number in range(3):
        command(agent, run, f"rm -rf build-{number}")

    said = {"action": "abort", "reason": "Not ours", "codes": list_open_codes(project)}
    done = open_browser(alice.user).post(build_path(project), said, follow=True)

    assert "3 reviews closed." in done.content.decode()
    assert not Review.objects.filter(project=project, state="open").exists()
    assert statuses([run]) == ["aborted"]


@pytest.mark.parametrize("action", ["deny", "abort"])
def test_what_came_after_the_page_was_read_is_not_closed(
    agent: httpx.Client, project: Project, alice: Person, action: str
) -> None:
    runs = [start_run(agent) for _ in range(3)]
    for run in runs[:2]:
        command(agent, run)
    browser = open_browser(alice.user)
    shown = browser.get(build_path(project)).content.decode()
    codes = list_open_codes(project)
    assert f'name="codes" value="{codes}"' in shown
    late = command(agent, runs[2])["review"]["id"]

    said = {"action": action, "reason": "A loop gone wild", "codes": codes}
    done = browser.post(build_path(project), said, follow=True)

    assert "2 reviews closed." in done.content.decode()
    assert list_open_codes(project) == late
    assert statuses(runs[2:]) == ["paused"]


def test_one_act_is_bounded_and_can_be_repeated(
    project: Project,
    alice: Person,
    flooded: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(close_flood, "CLOSE_LIMIT", 3)
    agent = Agent.objects.get(project=project, name="robo")
    codes = [UUID(code) for code in list_open_codes(project).split()]

    def act() -> int:
        done = close_flood.close_agent_reviews(
            agent=agent,
            person=alice.principal,
            action="deny",
            reason="Wild",
            codes=codes,
        )
        assert done.refusal is None
        return done.count

    assert [act(), act(), act()] == [3, 2, 0]


@pytest.mark.parametrize(
    "refusal",
    [
        Unavailable("The database does not take writes just now."),
        Forbidden("Only a manager may do this."),
        StaleVersion("The review changed since you read it."),
    ],
)
def test_a_refusal_stops_the_act_and_is_told_with_what_is_done(
    project: Project,
    alice: Person,
    flooded: list[str],
    monkeypatch: pytest.MonkeyPatch,
    refusal: DomainError,
) -> None:
    rule = submit_ruling_now
    ruled: list[str] = []

    def fail_at_the_third(*, review: Review, **said: Any) -> None:
        if len(ruled) == 2:
            raise refusal
        rule(review=review, **said)
        ruled.append(str(review.code))

    monkeypatch.setattr(close_flood, "submit_ruling_now", fail_at_the_third)
    said = {"action": "deny", "reason": "Wild", "codes": list_open_codes(project)}

    answer = open_browser(alice.user).post(build_path(project), said)

    shown = answer.content.decode()
    assert answer.status_code == refusal.status
    assert refusal.detail in shown
    assert "2 reviews closed, then it stopped" in shown
    assert Review.objects.filter(project=project, state="open").count() == CAP - 2


def test_what_somebody_else_closes_meanwhile_is_passed_over(
    project: Project,
    alice: Person,
    bob: Person,
    flooded: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = submit_ruling_now

    def rule_after_bob(*, person: PersonPrincipal, **said: Any) -> None:
        if not Review.objects.filter(project=project, state="ruled").exists():
            rule(person=bob.principal, **said)
        rule(person=person, **said)

    monkeypatch.setattr(close_flood, "submit_ruling_now", rule_after_bob)
    said = {"action": "deny", "reason": "Wild", "codes": list_open_codes(project)}

    done = open_browser(alice.user).post(build_path(project), said, follow=True)

    assert f"{CAP - 1} reviews closed." in done.content.decode()
    assert not Review.objects.filter(project=project, state="open").exists()


def test_only_a_manager_closes_and_only_with_a_reason(
    project: Project, alice: Person, bob: Person, charlie: Person, flooded: list[str]
) -> None:
    said = {"action": "deny", "reason": "Wild", "codes": list_open_codes(project)}
    address = build_path(project)
    reviewer = open_browser(bob.user)

    assert "A manager of this project" in reviewer.get(address).content.decode()
    assert reviewer.post(address, said).status_code == 403
    assert open_browser(charlie.user).post(address, said).status_code == 404
    for wrong in (
        {**said, "reason": " "},
        {**said, "action": "approve"},
        {**said, "codes": ""},
        {**said, "codes": "all"},
    ):
        assert open_browser(alice.user).post(address, wrong).status_code == 422
    assert Review.objects.filter(project=project, state="open").count() == CAP


def test_another_projects_agent_is_not_found(
    project: Project, alice: Person, charlie: Person, flooded: list[str]
) -> None:
    code = build_path(project).split("/")[4]
    membership = charlie.user.membership_set.get()
    address = f"/p/{membership.project.slug}/agents/{code}/reviews/"

    said = {"action": "deny", "reason": "Wild", "codes": list_open_codes(project)}
    assert open_browser(charlie.user).get(address).status_code == 404
    assert open_browser(charlie.user).post(address, said).status_code == 404


def test_the_queue_shows_it_as_one_item_that_comes_and_goes_by_itself(
    agent: httpx.Client, project: Project, alice: Person, capped: None
) -> None:
    runs = [start_run(agent) for _ in range(CAP)]
    for run in runs[: CAP - 1]:
        command(agent, run)
    view = View(project_id=project.pk, name="queue")
    since = get_live_position(project_id=project.pk)
    browser = open_browser(alice.user)
    shown = browser.get(f"/p/{project.slug}/queue/").content.decode()
    assert f"<b>robo</b> has {CAP - 1} open reviews." in shown
    assert "are blocked" not in shown

    command(agent, runs[-1])
    full = build_updates([(view, since)])[view, since]

    assert f"<b>robo</b> has {CAP} open reviews." in full.text
    assert "calls that need a person are blocked" in full.text
    assert build_path(project) in full.text
    said = {
        "action": "deny",
        "reason": "A loop gone wild",
        "codes": list_open_codes(project),
    }
    browser.post(build_path(project), said)
    empty = build_updates([(view, full.position)])[view, full.position]
    assert 'id="floods"' in empty.text
    assert "open reviews." not in empty.text
