"""What takes several people: nobody counts twice, nor the owner, nor who changed it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Agent, Project
from ledger.models import Entry
from reviews.models import Grant, Review
from tests.console.queue.panes import open_desk
from tests.gateway.calls.calls import command
from tests.support.builders import Person, make_policy, pause_at_once, start_run
from tests.support.people import get_seen, rule
from tests.support.problems import problem
from tests.support.waiting import park

FOUR_EYES = {"approvals": 2, "rules": ["uncertainty", "delete-*"]}


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("careful", project=project, four_eyes=FOUR_EYES)
    return start_run(agent, policy="careful")


@pytest.fixture
def call(agent: httpx.Client, run: str) -> dict[str, Any]:
    return command(agent, run, "rm -rf build-1")


def approve(
    client: httpx.Client, review: str, action: str = "approve", **more: Any
) -> httpx.Response:
    body = {"action": action, **get_seen(client, review), **more}
    return client.post(f"/reviews/{review}/ruling", json=body)


def give(project: Project, owner: Person) -> None:
    assert (
        Agent.objects.filter(project=project, name="robo").update(owner=owner.user) == 1
    )


def count_grants(review: str) -> int:
    return Grant.objects.filter(call__review__code=review).count()


def test_the_last_approval_lets_it_run_and_the_first_one_does_not(
    agent: httpx.Client,
    run: str,
    call: dict[str, Any],
    reviewer: httpx.Client,
    manager: httpx.Client,
    bob: Person,
) -> None:
    review = call["review"]["id"]
    assert manager.get(f"/reviews/{review}").json()["approvals"] == {
        "needed": 2,
        "given": 0,
    }

    first = approve(reviewer, review, note="Looks right")

    assert first.status_code == 202, first.text
    body = first.json()
    assert (body["state"], body["version"]) == ("open", 2)
    assert body["approvals"] == {"needed": 2, "given": 1}
    assert count_grants(review) == 0
    told = agent.get(f"/runs/{run}/decision").json()
    assert (told["state"], told["run_status"]) == ("open", "paused")
    shown = manager.get(f"/reviews/{review}").json()
    assert [each["by"] for each in shown["approved_by"]] == [bob.user.username]
    assert shown["history"][-1]["type"] == "review.approved"
    assert shown["history"][-1]["text"] == "Looks right"

    second = approve(manager, review)

    assert second.status_code == 200, second.text
    assert second.json()["approvals"] == {"needed": 2, "given": 2}
    assert count_grants(review) == 1
    told = agent.get(f"/runs/{run}/decision").json()
    assert told["ruling"]["action"] == "approve"
    call_command("ledger_verify", run=run)


def test_the_agent_hears_what_each_of_them_wrote(
    agent: httpx.Client,
    run: str,
    call: dict[str, Any],
    reviewer: httpx.Client,
    manager: httpx.Client,
    admin: httpx.Client,
    alice: Person,
    bob: Person,
    cleo: Person,
) -> None:
    review, path = call["review"]["id"], f"/runs/{run}/decision"
    assert approve(reviewer, review, note="Looks right").status_code == 202
    assert agent.get(path).json()["ruling"] is None, "nothing before the last one"
    changed = {"command": "ls build-1"}
    approve(manager, review, "amend", amended=changed, note="List it first")
    assert approve(reviewer, review).status_code == 202
    done = approve(admin, review, note="Then ask again")
    said = (
        f"{bob.user.username}: Looks right\n"
        f"{alice.user.username}: List it first\n"
        f"{cleo.user.username}: Then ask again"
    )
    assert done.json()["ruling"]["note"] == said
    assert agent.get(path).json()["ruling"]["note"] == said
    assert reviewer.get(f"/reviews/{review}").json()["ruling"]["note"] == said
    call_command("ledger_verify", run=run)


def test_who_writes_alone_is_heard_alone(
    agent: httpx.Client,
    run: str,
    reviewer: httpx.Client,
    manager: httpx.Client,
    bob: Person,
) -> None:
    """The last one needs no note; and with the first one's alone there is one name."""
    for first, last in (("Looks right", ""), ("", "Go on")):
        review = command(agent, run, f"rm -rf build-{len(last)}")["review"]["id"]
        assert approve(reviewer, review, note=first).status_code == 202
        said = approve(manager, review, note=last).json()["ruling"]["note"]
        assert said == (f"{bob.user.username}: {first}" if first else last)
    review = command(agent, run, "rm -rf build-x")["review"]["id"]
    assert approve(reviewer, review, note="Looks right").status_code == 202
    assert rule(manager, review, "deny", note="No")["ruling"]["note"] == "No"
    call_command("ledger_verify", run=run)


def test_a_parked_agent_hears_the_same_words(
    agent: httpx.Client,
    run: str,
    call: dict[str, Any],
    reviewer: httpx.Client,
    manager: httpx.Client,
    bob: Person,
) -> None:
    review = call["review"]["id"]
    assert approve(reviewer, review, note="Looks right").status_code == 202
    parked = park(agent, run, f"&review={review}")
    assert approve(manager, review).status_code == 200
    note = parked.result().json()["ruling"]["note"]
    assert note == f"{bob.user.username}: Looks right"


def test_nobody_approves_twice_and_the_owner_never(
    project: Project,
    call: dict[str, Any],
    reviewer: httpx.Client,
    manager: httpx.Client,
    bob: Person,
) -> None:
    review = call["review"]["id"]
    assert approve(reviewer, review).status_code == 202
    problem(approve(reviewer, review), "four-eyes")
    assert "approve" not in reviewer.get(f"/reviews/{review}").json()["rulings"]
    assert "approve" in manager.get(f"/reviews/{review}").json()["rulings"]

    # What its owner has approved before it was theirs counts no more.
    give(project, bob)
    assert approve(manager, review).status_code == 202
    problem(approve(reviewer, review), "four-eyes")
    assert count_grants(review) == 0


def test_a_version_that_was_read_before_an_approval_is_refused(
    call: dict[str, Any], reviewer: httpx.Client, manager: httpx.Client
) -> None:
    review = call["review"]["id"]
    seen = get_seen(manager, review)
    assert approve(reviewer, review).status_code == 202
    late = manager.post(f"/reviews/{review}/ruling", json={"action": "approve", **seen})
    assert problem(late, "stale-version")["version"] == 2


def test_one_veto_ends_it(
    agent: httpx.Client,
    run: str,
    call: dict[str, Any],
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    review = call["review"]["id"]
    assert approve(reviewer, review).status_code == 202
    assert rule(manager, review, "deny", note="Not now")["state"] == "ruled"
    assert count_grants(review) == 0
    assert agent.get(f"/runs/{run}/decision").json()["ruling"]["action"] == "deny"


def test_a_change_is_approved_by_others_from_the_start(
    agent: httpx.Client,
    run: str,
    call: dict[str, Any],
    reviewer: httpx.Client,
    manager: httpx.Client,
    admin: httpx.Client,
    bob: Person,
) -> None:
    review = call["review"]["id"]
    assert approve(reviewer, review).status_code == 202
    changed = approve(manager, review, "amend", amended={"command": "ls build-1"})
    assert changed.status_code == 202, changed.text
    assert changed.json()["approvals"] == {"needed": 2, "given": 0}
    assert count_grants(review) == 0
    problem(approve(manager, review), "four-eyes")

    shown = reviewer.get(f"/reviews/{review}").json()
    assert shown["amended"]["command"] == "ls build-1"
    assert shown["amended_findings"] == []
    assert approve(reviewer, review).status_code == 202
    assert approve(admin, review).status_code == 200

    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    assert (ruling["action"], ruling["amended"]["command"]) == ("amend", "ls build-1")
    assert count_grants(review) == 1
    assert (
        f"user:{bob.user.code}"
        in Entry.objects.get(type="review.ruled", run__code=run).payload
    )
    call_command("ledger_verify", run=run)


def test_the_next_one_sees_what_was_changed_and_what_the_gates_say_of_it(
    project: Project,
    call: dict[str, Any],
    reviewer: httpx.Client,
    manager: httpx.Client,
    bob: Person,
) -> None:
    review = call["review"]["id"]
    worse = {"command": "rm -rf / --no-preserve-root"}
    assert approve(manager, review, "amend", amended=worse).status_code == 202
    shown = reviewer.get(f"/reviews/{review}").json()
    assert [each["gate"] for each in shown["amended_findings"]] == ["destructive"]
    pane = open_desk(bob, project, call).look()
    assert "What was asked for" in pane.part("What would run")
    part = pane.part("Approvals")
    assert "Deletes / with all contents" in part
    assert "<mark" in part
    assert "1 finding" in part
    assert '<tr class="removed">' in part
    assert '<tr class="added">' in part


def test_nothing_is_remembered_by_what_takes_several_people(
    call: dict[str, Any], reviewer: httpx.Client
) -> None:
    body = {"scope": "exact", "hours": 1, "uses": 1}
    answer = approve(reviewer, call["review"]["id"], remember=body)
    assert "asked about every time" in problem(answer, "invalid")["detail"]


@pytest.mark.parametrize(
    ("section", "labels", "needed"),
    [
        ({"severity": ["medium"]}, {}, 3),
        ({"severity": ["critical"]}, {}, 1),
        ({"labels": {"env": "production"}}, {"env": "production"}, 3),
        ({"labels": {"env": "production"}}, {"env": "test"}, 1),
        ({"policy": True}, {}, 1),
    ],
)
def test_the_policy_says_where(
    agent: httpx.Client,
    project: Project,
    section: dict[str, Any],
    labels: dict[str, str],
    needed: int,
) -> None:
    make_policy("careful", project=project, four_eyes={"approvals": 3, **section})
    review = pause_at_once(agent, start_run(agent, policy="careful", labels=labels))
    assert Review.objects.get(code=review).approvals_needed == needed


def test_the_page_tells_everybody_how_many_have_approved(
    project: Project, call: dict[str, Any], alice: Person, bob: Person, cleo: Person
) -> None:
    reviewers, managers = (open_desk(each, project, call) for each in (bob, alice))
    give(project, cleo)
    untouched = reviewers.look()
    assert "You would be the first" in untouched.text
    assert "Nothing goes on before the last approval" in untouched.text
    assert "Approve, first of two" in untouched.text
    pane = reviewers.rule("approve", text="Looks right")
    assert pane.status == 200
    assert "1 of 2" in pane.text
    assert "You have approved this already" in pane.text
    shown = managers.look()
    assert "1 of 2" in shown.text
    part = shown.part("Approvals")
    assert bob.user.display_name in part
    assert "Two people must approve" in part
    assert f"{cleo.user.display_name} owns the agent and does not count" in part
    assert "You would be the second" in shown.text
    assert "Approve, second of two" in shown.text
    assert reviewers.rule("approve").status == 403
    assert "You approved this" in managers.rule("approve").text
