"""A new password ends what the old one had let in: other browsers, and tokens."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import PersonalToken, Project, Role
from accounts.services import add_person, issue_token
from reviews.administration.people.password_links import create_password_link
from tests.support.browsing import open_browser, open_client
from tests.support.builders import Person
from tests.support.live import Live

pytestmark = pytest.mark.once("forms and pages, not SQL")

OWN = dict.fromkeys(("new_password1", "new_password2"), "seven quiet otters")


def opens(live: Live, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{live.api}/reviews", headers=headers).status_code


def test_a_changed_password_ends_tokens_and_other_sessions(
    live: Live, project: Project, bob: Person, alice: Person
) -> None:
    second = issue_token(user=bob.user)
    assert [opens(live, token) for token in (bob.token, second)] == [200, 200]
    here, elsewhere = open_browser(bob.user), open_browser(bob.user)

    changed = here.post("/password/", {**OWN, "old_password": bob.password})

    assert changed.status_code == 302
    assert [opens(live, token) for token in (bob.token, second)] == [401, 401]
    path = f"/p/{project.slug}/queue/"
    assert here.get(path).status_code == 200
    assert elsewhere.get(path)["Location"].startswith("/sign-in/")
    assert opens(live, alice.token) == 200


def test_a_refused_change_ends_nothing(live: Live, bob: Person) -> None:
    browser = open_browser(bob.user)
    assert browser.post("/password/", {**OWN, "old_password": "x"}).status_code == 422
    assert opens(live, bob.token) == 200


def test_a_reset_ends_tokens_and_every_session(
    live: Live, project: Project, bob: Person
) -> None:
    browser = open_browser(bob.user)
    name = bob.user.username
    added = add_person(name=name, role=Role.REVIEWER, project_slug=project.slug)
    assert opens(live, bob.token) == 401
    assert opens(live, added.token) == 200
    path = f"/p/{project.slug}/queue/"
    assert browser.get(path)["Location"].startswith("/sign-in/")


def test_the_token_that_came_with_a_one_time_password_outlives_it(
    live: Live, project: Project, bob: Person
) -> None:
    """Both were given at once; the tokens before them have ended then."""
    name = bob.user.username
    added = add_person(name=name, role=Role.REVIEWER, project_slug=project.slug)
    assert open_browser(added.user).post("/password/", OWN).status_code == 302
    assert opens(live, added.token) == 200
    in_force = PersonalToken.objects.filter(user=bob.user, revoked_at=None)
    assert in_force.count() == 1


def test_a_password_that_came_by_a_link_ends_every_token(
    live: Live, project: Project, bob: Person, cleo: Person
) -> None:
    """Also of somebody with a one-time password: the link is for who lost what they had."""
    name = bob.user.username
    added = add_person(name=name, role=Role.REVIEWER, project_slug=project.slug)
    link = create_password_link(
        project_id=project.pk, code=str(bob.user.code), by=cleo.principal
    )
    chosen = open_client().post(httpx.URL(link.address).path, OWN)
    assert chosen.status_code == 302
    assert opens(live, added.token) == 401


def test_the_page_says_what_a_change_ends(bob: Person) -> None:
    page = open_browser(bob.user).get("/password/").content.decode()
    assert "ends your personal tokens" in page
