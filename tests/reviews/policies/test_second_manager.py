"""Four eyes on policies: a version comes into force when a second manager approves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Project, Role
from guidance.models import PolicyActivation
from guidance.services import get_policy_in_force
from ledger.chain import format_timestamp
from ledger.jobs.models import JobState
from ledger.models import Run
from ledger.verification.replay import replay_run
from reviews.models import Backtest, Review
from reviews.policies.backtest.selectors import find_result
from reviews.policies.second_manager import (
    SecondManager,
    find_waiting,
    load_second_manager,
)
from reviews.rulings.expiry import expire_due_reviews
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.reviews.policies.trials import run as try_by_api
from tests.support.browsing import open_browser
from tests.support.builders import (
    Person,
    make_person,
    make_policy,
    make_project,
    pause_at_once,
    start_run,
)
from tests.support.live import Live
from tests.support.problems import problem
from tests.support.waiting import stand_at

FOUR_EYES = {"four_eyes": {"policy": True}}
LESS = {"checks": {"max_resets": 1}, **FOUR_EYES}


@pytest.fixture
def erin(project: Project) -> Person:
    return make_person("erin", role=Role.MANAGER, project=project)


@pytest.fixture
def second(live: Live, erin: Person) -> Iterator[httpx.Client]:
    with client_for(live, erin) as client:
        yield client


@pytest.fixture
def review(manager: httpx.Client, project: Project) -> str:
    """A change of the default policy that one manager wants."""
    make_policy("default", project=project, **FOUR_EYES)
    body = {"document": LESS, "note": "Fewer resets"}
    assert manager.post("/policies/default/versions", json=body).status_code == 201
    answer = manager.post("/policies/default/versions/3/activate", json={"note": "Now"})
    assert answer.status_code == 202, answer.text
    assert answer.json()["active"] is False
    code: str = answer.json()["review"]
    return code


def rule(client: httpx.Client, review: str, action: str) -> httpx.Response:
    body = client.get(f"/reviews/{review}").json()
    ruling = {
        "action": action,
        "version": body["version"],
        "content_digest": body["content_digest"],
    }
    return client.post(f"/reviews/{review}/ruling", json=ruling)


def get_version(project: Project) -> int:
    return get_policy_in_force(project_id=project.pk, name="default").version


def check_chain(project: Project) -> list[str]:
    """The types of its last entries; the chain is whole."""
    run = Run.objects.get(project=project, intent="system-policies")
    call_command("ledger_verify", run=str(run.code))
    assert replay_run(run).difference is None
    return list(run.entries.order_by("seq").values_list("type", flat=True))[-2:]


def test_a_second_manager_puts_it_in_force(
    manager: httpx.Client,
    second: httpx.Client,
    review: str,
    project: Project,
    alice: Person,
) -> None:
    shown = second.get(f"/reviews/{review}").json()
    assert (shown["kind"], shown["rulings"]) == ("policy_change", ["approve", "deny"])
    (change,) = shown["content"]["changes"]
    assert change["path"] == "checks.max_resets"
    assert change["meaning"]
    assert shown["content"]["note"] == "Now"
    assert get_version(project) == 2
    told = problem(rule(manager, review, "approve"), "four-eyes")
    assert "second manager" in told["detail"]
    assert get_version(project) == 2
    assert rule(second, review, "approve").status_code == 200
    assert get_version(project) == 3
    assert check_chain(project) == ["review.ruled", "policy.activated"]
    act = PolicyActivation.objects.filter(policy__project=project).latest("pk")
    assert (act.by, act.note) == (alice.user, "Now")


def test_a_reviewer_does_not_count(
    reviewer: httpx.Client, review: str, project: Project
) -> None:
    for action in ("approve", "deny"):
        problem(rule(reviewer, review, action), "forbidden")
    assert get_version(project) == 2


def test_the_author_does_not_count_who_ever_asks(
    manager: httpx.Client, second: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, **FOUR_EYES)
    manager.post("/policies/default/versions", json={"document": LESS})
    asked = second.post("/policies/default/versions/3/activate", json={})
    for client in (manager, second):
        problem(rule(client, asked.json()["review"], "approve"), "four-eyes")
    assert get_version(project) == 2


def test_what_is_denied_stays_a_draft(
    manager: httpx.Client, review: str, project: Project
) -> None:
    body = {"document": {"runs": {"abandon_after_s": 600}}, "activate": True}
    problem(manager.post("/policies/default/versions", json=body), "review-open")
    assert rule(manager, review, "deny").status_code == 200  # one may think again
    assert get_version(project) == 2
    assert check_chain(project) == ["review.ruled", "policy.refused"]
    again = manager.post("/policies/default/versions", json=body)
    assert again.status_code == 201
    assert again.json()["review"] is not None


def test_nobody_in_time_means_no(manager: httpx.Client, project: Project) -> None:
    make_policy("default", project=project, **FOUR_EYES, reviews={"expires_after_s": 1})
    body = {"document": LESS, "activate": True}
    made = manager.post("/policies/default/versions", json=body).json()
    due = Review.objects.get(code=made["review"]).due_at
    with stand_at(due - timedelta(microseconds=1)):
        expire_due_reviews()
    assert Review.objects.get(code=made["review"]).state == "open"
    with stand_at(due):
        expire_due_reviews()
    assert Review.objects.get(code=made["review"]).state == "expired"
    assert check_chain(project) == ["review.expired", "policy.refused"]
    assert get_version(project) == 2
    run = Run.objects.get(project=project, intent="system-policies")
    assert run.status == "running"


def test_a_new_policy_asks_by_the_default(
    manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, **FOUR_EYES)
    body: dict[str, Any] = {"document": {}, "activate": True}
    made = manager.post("/policies/lax/versions", json=body).json()
    assert made["active"] is False
    assert made["review"]


def test_the_page_shows_the_differences_in_words(
    review: str, project: Project, erin: Person
) -> None:
    browser = open_browser(erin.user)
    page = browser.get(f"/p/{project.slug}/queue/{review}/").content.decode()
    for words in ("Put version 3 of the policy", "What changes", "version 2", "Now"):
        assert words in page, words
    assert "checks.max_resets" in page
    assert "/policies/default/compare/?from=2&amp;to=3" in page
    assert "Nobody had tried it over stored history" in page


def test_who_asked_sees_that_another_manager_approves(
    review: str, project: Project, alice: Person, erin: Person
) -> None:
    def look(person: Person, path: str) -> str:
        browser = open_browser(person.user)
        return browser.get(f"/p/{project.slug}/{path}").content.decode()

    approve = r'value="approve"[^>]*\bdisabled'
    own = look(alice, f"queue/{review}/")
    assert re.search(approve, own)
    assert "another manager has to approve it" in own
    others = look(erin, f"queue/{review}/")
    assert not re.search(approve, others)
    assert f"<b>{alice.user.display_name}</b> asks for it" in others
    page = look(erin, "policies/default/")
    assert "Version 3 waits for a second manager." in page
    assert page.count(f"/queue/{review}/") == 2, "In the notice, and in the history."


def test_what_a_backtest_of_it_found_is_part_of_what_is_ruled_on(
    manager: httpx.Client,
    second: httpx.Client,
    agent: httpx.Client,
    project: Project,
    erin: Person,
) -> None:
    make_policy("default", project=project, **FOUR_EYES)
    command(agent, start_run(agent), "rm -rf src")
    draft = {**FOUR_EYES, "tools": {"rules": {"delete-folder": "warn"}}}
    tried = try_by_api(manager, document=draft)
    try_by_api(manager, document={**draft, "checks": {"max_resets": 1}})
    body = {"document": draft, "activate": True}
    made = manager.post("/policies/default/versions", json=body).json()
    found = second.get(f"/reviews/{made['review']}").json()["content"]["backtest"]
    assert (found["id"], found["changed"]) == (tried["id"], 1)
    assert found["moves"] == {"require-confirmation→warn": 1}
    there = f"/p/{project.slug}/queue/{made['review']}/"
    page = open_browser(erin.user).get(there).content.decode()
    assert "1 of 1 decision would come out differently, in 1 run." in page
    assert "It no longer asks in 1 case" in page
    assert f"/p/{project.slug}/backtests/{tried['id']}/" in page
    assert rule(second, made["review"], "approve").status_code == 200
    assert check_chain(project) == ["review.ruled", "policy.activated"]


def test_of_several_backtests_the_newest_of_the_very_document_is_told(
    project: Project, alice: Person
) -> None:
    """Not of another document, policy or project, and none that came to nothing."""
    text = '{"checks":{"max_resets":1}}'

    def add(**more: Any) -> Backtest:
        asked = {"project": project, "policy": "default", "document": text, **more}
        return Backtest.objects.create(
            state=asked.pop("state", JobState.FINISHED),
            since=timezone.now() - timedelta(days=1),
            until=timezone.now(),
            created_by=alice.user,
            **asked,
        )

    assert find_result(project.pk, "default", text) is None
    add(result='{"judged": 1}')
    newest = add(result='{"judged": 2}')
    other = add(policy="lax", result='{"judged": 3}')
    add(document="{}")
    add(project=make_project())
    for state in (JobState.FAILED, JobState.CANCELLED):
        add(state=state)
    found = find_result(project.pk, "default", text)
    assert found is not None
    assert (found["id"], found["judged"]) == (str(newest.code), 2)
    assert found["until"] == format_timestamp(newest.until)
    lax = find_result(project.pk, "lax", text)
    assert lax is not None
    assert (lax["id"], lax["judged"]) == (str(other.code), 3)
    assert find_result(project.pk, "lax", "{}") is None


def ask_by_api(client: httpx.Client, name: str, **checks: Any) -> dict[str, Any]:
    """Store a version and put it in force, or ask for that; returns the answer."""
    body = {"document": {"checks": checks, **FOUR_EYES}, "activate": True}
    answer = client.post(f"/policies/{name}/versions", json=body)
    assert answer.status_code in {201, 202}, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_only_a_waiting_version_of_the_same_policy_stands_in_the_way(
    live: Live,
    manager: httpx.Client,
    second: httpx.Client,
    agent: httpx.Client,
    project: Project,
) -> None:
    """Another policy's, another project's, one that was denied, and another question."""
    elsewhere = make_project()
    boss = make_person("boss", role=Role.MANAGER, project=elsewhere)
    for place in (project, elsewhere):
        for name in ("lax", "default"):
            make_policy(name, project=place, **FOUR_EYES)
    pause_at_once(agent, start_run(agent))
    with client_for(live, boss) as stranger:
        theirs = ask_by_api(stranger, "default", max_resets=1)
    lax = ask_by_api(manager, "lax", max_resets=1)
    assert find_waiting(project.pk, "default") is None
    assert find_waiting(elsewhere.pk, "lax") is None
    denied = ask_by_api(manager, "default", max_resets=2)
    assert rule(second, denied["review"], "deny").status_code == 200
    assert find_waiting(project.pk, "default") is None
    own = ask_by_api(manager, "default", max_resets=3)

    for place, name, made in (
        (project, "lax", lax),
        (project, "default", own),
        (elsewhere, "default", theirs),
    ):
        waiting = (made["review"], made["version"])
        assert find_waiting(place.pk, name) == waiting, (place, name)
        assert load_second_manager(place.pk, name).waiting == made["review"]
    for client, name, made in ((manager, "lax", lax), (second, "default", own)):
        path = f"/policies/{name}/versions/{made['version']}/activate"
        problem(client.post(path, json={}), "review-open")

    assert rule(second, lax["review"], "approve").status_code == 200
    for name, version in (("lax", lax["version"]), ("default", own["version"] - 2)):
        found = get_policy_in_force(project_id=project.pk, name=name)
        assert (found.name, found.version) == (name, version)
    there = get_policy_in_force(project_id=elsewhere.pk, name="default")
    assert there.version == theirs["version"] - 1
    assert find_waiting(project.pk, "default") == (own["review"], own["version"])


@pytest.mark.parametrize("asks", [True, False])
def test_a_policy_in_force_says_for_itself_whether_it_takes_two(
    manager: httpx.Client, project: Project, asks: bool
) -> None:
    """Whatever the default says, which counts for a policy without a version in force."""
    lax = make_policy("lax", project=project, four_eyes={"policy": asks})
    default = {"four_eyes": {"policy": not asks}, "reviews": {"expires_after_s": 77}}
    make_policy("default", project=project, **default)
    assert lax.version == 1
    for name, needed in (("lax", asks), ("default", not asks), ("new", not asks)):
        found = load_second_manager(project.pk, name)
        assert found.needed is needed, name
        assert (found.rules.expires_after_s == 77) is (name != "lax")
    assert load_second_manager(make_project().pk, "default") == SecondManager()
    made = ask_by_api(manager, "lax", max_resets=1)
    assert (made["review"] is not None) is asks
