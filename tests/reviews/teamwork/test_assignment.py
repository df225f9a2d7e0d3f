"""A review is given to somebody: by name, or to one of those who have a role."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project, Role
from console.live.updates import View, build_updates
from ledger.models import Entry
from ledger.verification.verify import verify_run_and_rows
from reviews.models import Review
from reviews.queue.tally import count_reviews
from reviews.teamwork.sweep import end_claims
from tests.support.builders import Person, make_person, pause_at_once, start_run
from tests.support.people import claim
from tests.support.problems import problem
from tests.support.threads import at_once


@pytest.fixture
def review(agent: httpx.Client) -> str:
    return pause_at_once(agent, start_run(agent))


def get_row(review: str) -> Review:
    return Review.objects.select_related("assignee", "run").get(code=review)


def assign(client: httpx.Client, review: str, to: str, **more: Any) -> dict[str, Any]:
    answer = client.post(f"/reviews/{review}/assign", json={"to": to, **more})
    assert answer.status_code == 200, answer.text
    given: dict[str, Any] = answer.json()
    return given


def test_it_is_theirs_until_they_give_it_back(
    manager: httpx.Client,
    reviewer: httpx.Client,
    bob: Person,
    project: Project,
    review: str,
) -> None:
    name = bob.user.username
    given = assign(manager, review, name, note="The 2025 table is right.")
    assert (given["assignee"], given["claimed_until"]) == (name, None)
    end_claims()
    assert get_row(review).assignee == bob.user
    listed = reviewer.get("/reviews", params={"assignee": name}).json()
    assert [item["id"] for item in listed["items"]] == [review]
    assert reviewer.get("/reviews", params={"claimed": True}).json()["total"] == 0
    tally = count_reviews(project_id=project.pk)
    assert tally.count_shown(show="mine", viewer=str(bob.user.code)) == 1
    last = reviewer.get(f"/reviews/{review}").json()["history"][-1]
    assert (last["to"], last["text"]) == (name, "The 2025 table is right.")
    assert verify_run_and_rows(get_row(review).run).ok


def test_a_claim_that_ends_leaves_it_with_whom_it_was_given_to(
    manager: httpx.Client, bob: Person, alice: Person, review: str
) -> None:
    assign(manager, review, bob.user.username)
    claim(review, bob)
    past = timezone.now() - timedelta(seconds=1)
    Review.objects.filter(code=review).update(claimed_until=past)
    assert end_claims() >= 1
    row = get_row(review)
    assert (row.assignee, row.claimed_at) == (bob.user, None)
    assert row.assigned_at is not None
    claim(review, alice)
    assert get_row(review).assigned_at is None
    assert verify_run_and_rows(row.run).ok


def test_both_are_told(
    manager: httpx.Client, alice: Person, bob: Person, project: Project, review: str
) -> None:
    eve = make_person("eve", role=Role.REVIEWER, project=project)
    claim(review, bob)
    since = max(
        Entry.objects.filter(project=project).values_list("position", flat=True)
    )
    assign(manager, review, eve.user.username)
    view = View(project_id=project.pk, name="ledger")
    ((_, update),) = build_updates([(view, since)]).items()
    name = alice.user.username
    assert f"{name} gave this to you" in update.text
    assert f"{name} gave to another what you had" in update.text
    for person in (bob, eve):
        assert str(person.user.code) in update.text


@pytest.mark.parametrize("to", ["nobody", "auditor", "role:auditor", "role:boss"])
def test_only_who_may_rule_can_be_given_it(
    manager: httpx.Client, project: Project, review: str, to: str
) -> None:
    auditor = make_person("auditor", role=Role.AUDITOR, project=project)
    to = auditor.user.username if to == "auditor" else to
    answer = manager.post(f"/reviews/{review}/assign", json={"to": to})
    assert problem(answer, "invalid")["errors"][0]["loc"] == ["to"]
    assert get_row(review).assignee is None


def test_the_least_loaded_of_a_role_gets_it(
    agent: httpx.Client, manager: httpx.Client, bob: Person, project: Project
) -> None:
    eve = make_person("eve", role=Role.REVIEWER, project=project)
    reviews = [pause_at_once(agent, start_run(agent)) for _ in range(4)]
    for review in reviews[:2]:
        assign(manager, review, bob.user.username)
    chosen = [
        assign(manager, review, "role:reviewer")["assignee"] for review in reviews[2:]
    ]
    assert chosen == [eve.user.username] * 2


def test_round_robin_goes_on_with_whoever_is_next(
    agent: httpx.Client, manager: httpx.Client, bob: Person, project: Project
) -> None:
    eve = make_person("eve", role=Role.REVIEWER, project=project)
    chosen = []
    for _ in range(4):
        review = pause_at_once(agent, start_run(agent))
        given = assign(manager, review, "role:reviewer", how="round_robin")
        chosen.append(given["assignee"])
    assert set(chosen[:2]) == {bob.user.username, eve.user.username}
    assert chosen[2:] == chosen[:2]


def test_two_at_once_are_not_given_to_one_person(
    agent: httpx.Client, manager: httpx.Client, bob: Person, project: Project
) -> None:
    make_person("eve", role=Role.REVIEWER, project=project)
    first, second = (pause_at_once(agent, start_run(agent)) for _ in range(2))
    one, other = at_once(
        lambda: assign(manager, first, "role:reviewer"),
        lambda: assign(manager, second, "role:reviewer"),
    )
    assert one["assignee"] != other["assignee"]


def test_a_handover_needs_a_note_and_frees_it_for_everybody(
    reviewer: httpx.Client, alice: Person, bob: Person, review: str
) -> None:
    path = f"/reviews/{review}/handover"
    claim(review, alice)
    refused = reviewer.post(path, json={"note": "Wait for the team."})
    assert refused.status_code == 403
    claim(review, bob)
    assert reviewer.post(path, json={"note": ""}).status_code == 422
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"
    assert reviewer.post(path, json={"note": f"Ask {secret}"}).status_code == 200
    assert get_row(review).assignee is None
    entry = Entry.objects.filter(type="review.assigned").latest("pk")
    payload = json.loads(entry.payload)
    assert payload["to"] is None
    assert secret not in payload["note"]
