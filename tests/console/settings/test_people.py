"""The tab People: what admins do there, and what others see."""

from __future__ import annotations

import re

import pytest

from accounts.models import Invitation, Membership, Project, Role
from reviews.administration.people.abilities import ABILITIES
from tests.config.authorisation.doors import DOORS
from tests.config.authorisation.rules import ACTING
from tests.support.browsing import open_browser
from tests.support.builders import Person, unique

pytestmark = pytest.mark.once("forms and pages, not SQL")


def get_base(project: Project) -> str:
    return f"/p/{project.slug}/settings/"


def test_an_invitation_shows_its_link_once(project: Project, cleo: Person) -> None:
    browser, base = open_browser(cleo.user), get_base(project)
    email = f"{unique('eve')}@example.com"
    shown = browser.post(f"{base}people/invite/", {"email": email, "role": "auditor"})
    (link,) = set(re.findall(r"http[^\"]+/join/[\w-]+/", shown.content.decode()))
    page = browser.get(f"{base}people/").content.decode()
    assert email in page
    assert link not in page
    code = Invitation.objects.get(email=email).code
    again = browser.post(f"{base}invitations/{code}/send/").content.decode()
    assert "/join/" in again
    assert link not in again
    browser.post(f"{base}invitations/{code}/withdraw/")
    assert email not in browser.get(f"{base}people/").content.decode()


def test_errors_stand_at_their_field(project: Project, cleo: Person) -> None:
    browser, base = open_browser(cleo.user), get_base(project)
    for email in ("", "nobody"):
        answer = browser.post(
            f"{base}people/invite/", {"email": email, "role": "admin"}
        )
        assert answer.status_code == 422
        assert 'id="email-error"' in answer.content.decode()


def test_roles_change_and_the_last_admin_is_told(
    project: Project, cleo: Person, bob: Person
) -> None:
    browser, base = open_browser(cleo.user), get_base(project)
    changed = browser.post(f"{base}people/{bob.user.code}/role/", {"role": "manager"})
    assert changed.status_code == 302
    assert Membership.objects.get(project=project, user=bob.user).role == "manager"
    own = f"{base}people/{cleo.user.code}"
    for refused in (
        browser.post(f"{own}/role/", {"role": "reviewer"}),
        browser.post(f"{own}/remove/"),
    ):
        assert refused.status_code == 422
        assert "last admin" in refused.content.decode()
    assert browser.post(f"{base}people/{bob.user.code}/remove/").status_code == 302
    assert not Membership.objects.filter(project=project, user=bob.user).exists()


def test_others_see_and_change_nothing(
    project: Project, alice: Person, dora: Person, bob: Person
) -> None:
    base = get_base(project)
    for person in (alice, dora):
        browser = open_browser(person.user)
        page = browser.get(f"{base}people/").content.decode()
        assert bob.user.username in page
        assert "<select" not in page
        assert "/remove/" not in page
        path = f"{base}people/{bob.user.code}/remove/"
        assert browser.post(path).status_code == 403
    assert open_browser(bob.user).get(f"{base}people/").status_code == 404


def test_what_a_role_may_do_is_what_the_doors_say() -> None:
    allowed = [
        {role.value for role in Role if ability.is_allowed(role)}
        for ability in ABILITIES
    ]
    people = {*ACTING, "auditor"}
    doors = (
        *("GET /reviews", "GET /webhooks", "POST /reviews/{review}/ruling"),
        *("POST /webhooks", "DELETE /people/{person}"),
    )
    assert allowed == [DOORS[door].allowed & people for door in doors]
