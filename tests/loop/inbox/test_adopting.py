"""Adopting a change: on the version that was seen, with the difference, and only if any."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx
import pytest

from accounts.models import Project
from guidance.models import PolicyVersion
from guidance.services import get_policy_in_force
from loop.inbox import recommendations
from loop.models import Recommendation
from reviews.policies.acts import Outcome
from reviews.policies.services import activate_version, create_version
from tests.loop.saying import sound
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy
from tests.support.problems import problem
from tests.support.threads import at_once

pytestmark = pytest.mark.once(
    "forms of requests; drafts are repeated in tests/reviews/policies"
)

LOOSER: dict[str, Any] = {"set": {"tools": {"always_ask": []}}}
STRICTER: dict[str, Any] = {"set": {"tools": {"always_ask": ["git-push-force"]}}}


def recommend(client: httpx.Client, change: dict[str, Any], title: str = "t") -> str:
    body = {"title": title, "change": change}
    answer = client.post("/loop/recommendations", json=body)
    assert answer.status_code == 201, answer.text
    code: str = answer.json()["id"]
    return code


def adopt(client: httpx.Client, code: str, **body: Any) -> httpx.Response:
    return client.post(f"/loop/recommendations/{code}/adopt", json=body)


def get_recommendation(client: httpx.Client, code: str) -> dict[str, Any]:
    items = client.get("/loop/recommendations").json()["items"]
    return next(item for item in items if item["id"] == code)


def versions(project: Project) -> int:
    return PolicyVersion.objects.filter(project=project, name="default").count()


def test_a_change_is_adopted_on_the_version_that_was_seen(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    first, second = recommend(agent, LOOSER, "Fix a typo"), recommend(agent, STRICTER)
    assert get_recommendation(manager, first)["draft"]["based_on"] == 1
    missing = problem(manager.post(_path(second)), "precondition-required")
    assert missing["in_force"] == {"name": "default", "version": 1}
    assert adopt(manager, second, based_on=1).json()["state"] == "adopted"
    activate(project, 2)

    stale = problem(adopt(manager, first, based_on=1), "stale-version")

    assert stale["in_force"] == {"name": "default", "version": 2}
    assert stale["detail"].startswith("Version 2 of the policy default is in force")
    (change,) = stale["changes"]
    assert change["path"] == "tools.always_ask"
    assert (change["before"], change["after"]) == (["git-push-force"], [])
    assert versions(project) == 2
    # Who has looked again may still want it.
    assert get_recommendation(manager, first)["draft"]["changes"] == [change]
    assert adopt(manager, first, based_on=2).status_code == 200
    assert versions(project) == 3
    sound(project)


def _path(code: str) -> str:
    return f"/loop/recommendations/{code}/adopt"


def test_a_version_that_is_no_number_is_refused(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    code = recommend(agent, STRICTER)
    for wrong in ("1", 1.0, True, 0, -1, 10**12):
        problem(adopt(manager, code, based_on=wrong), "invalid")
    problem(adopt(manager, code, based_on=1, force=True), "invalid")


def test_what_changes_no_policy_needs_no_version(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    code = recommend(agent, {"advice": "Read it together."})
    assert manager.post(_path(code)).json()["state"] == "adopted"


def test_what_changes_nothing_makes_no_version_and_says_so(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, tools={"always_ask": ["git-push-force"]})
    empty: dict[str, Any] = {"set": {"tools": {}}}
    for change in (STRICTER, empty):
        code = recommend(agent, change)
        assert get_recommendation(manager, code)["draft"]["changes"] == []
        told = problem(adopt(manager, code, based_on=2), "unchanged")
        assert "nothing" in told["detail"]
        assert get_recommendation(manager, code)["state"] == "pending"
    assert versions(project) == 2


def test_what_was_adopted_binds_nobody_until_a_person_activates_it(
    agent: httpx.Client, manager: httpx.Client, alice: Person, project: Project
) -> None:
    codes = [
        recommend(agent, {"set": {"checks": {"max_resets": number}}})
        for number in (1, 2, 4, 5)
    ]
    answers = at_once(*(partial(adopt, manager, code, based_on=1) for code in codes))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert versions(project) == 5
    in_force = get_policy_in_force(project_id=project.pk, name="default")
    assert in_force.version == 1
    rows = PolicyVersion.objects.filter(project=project, created_by=alice.user)
    assert {row.note for row in rows} == {"Recommended: t"}
    activate(project, 3)
    in_force = get_policy_in_force(project_id=project.pk, name="default")
    assert in_force.version == 3
    sound(project)


def test_two_who_adopt_the_same_one_make_one_version(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    code = recommend(agent, STRICTER)
    send = partial(adopt, manager, code, based_on=1)
    answers = at_once(send, send, send)
    assert sorted(answer.status_code for answer in answers) == [200, 422, 422]
    assert versions(project) == 2


def test_a_draft_that_was_left_behind_is_found_again(
    agent: httpx.Client,
    manager: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The version is stored, and the server stops before the recommendation says so."""
    code = recommend(agent, STRICTER)
    with monkeypatch.context() as patch:
        patch.setattr(recommendations, "perform", fail)
        assert adopt(manager, code, based_on=1).status_code == 500
    assert versions(project) == 2
    assert adopt(manager, code, based_on=1).status_code == 200
    assert versions(project) == 2
    adopted = Recommendation.objects.get(code=code).adopted_as
    assert adopted is not None
    assert adopted.version == 2


def fail(*_args: Any) -> None:
    raise RuntimeError("The server stops.")


def activate(project: Project, number: int) -> None:
    activate_version(project_id=project.pk, name="default", number=number)


def test_a_version_published_elsewhere_in_that_moment_wins(
    agent: httpx.Client,
    manager: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the look at the policy and the new version: the database decides."""
    code = recommend(agent, STRICTER)

    def store_late(**wanted: Any) -> Outcome:
        make_policy("default", project=project, checks={"max_resets": 1})
        return create_version(**wanted)

    monkeypatch.setattr(recommendations, "create_version", store_late)
    problem(adopt(manager, code, based_on=1), "stale-version")
    assert get_recommendation(manager, code)["state"] == "pending"
    sound(project)


def test_the_page_shows_the_difference_and_asks_for_the_version_it_showed(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    stale, code = recommend(agent, LOOSER, "Fix a typo"), recommend(agent, STRICTER)
    tab = f"/p/{project.slug}/loop/recommendations/"
    browser = open_browser(alice.user)
    page = browser.get(tab).content.decode()
    assert "tools.always_ask" in page
    assert 'name="based_on" value="1"' in page

    assert browser.post(f"{tab}{code}/adopt/").status_code == 428
    assert browser.post(f"{tab}{code}/adopt/", {"based_on": "1"}).status_code == 302
    activate(project, 2)
    moved = browser.post(f"{tab}{stale}/adopt/", {"based_on": "1"})

    assert moved.status_code == 412
    again = moved.content.decode()
    assert "version 2" in again
    assert 'name="based_on" value="2"' in again
    assert Recommendation.objects.get(code=stale).state == "pending"
    policy = get_policy_in_force(project_id=project.pk, name="default")
    assert policy.version == 2
    # The adopted one still says what it changed.
    card = again.split(f'id="recommendation-{code}"')[1]
    assert "tools.always_ask" in card
    assert "git-push-force" in card


def test_the_page_offers_nothing_to_adopt_where_nothing_would_change(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    make_policy("default", project=project, tools={"always_ask": ["git-push-force"]})
    code = recommend(agent, STRICTER)
    tab = f"/p/{project.slug}/loop/recommendations/"
    page = open_browser(alice.user).get(tab).content.decode()
    assert "would change nothing" in page
    assert f"{code}/adopt/" not in page
    assert f"{code}/dismiss/" in page
