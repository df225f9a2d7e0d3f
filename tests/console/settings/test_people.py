"""The tab People: what admins do there, and what others see."""

from __future__ import annotations

import re

import pytest

from accounts.models import Invitation, Membership, Project, Role
from accounts.throttle import PAIR_LIMIT
from config.access.operations import OPERATIONS
from reviews.administration.people.abilities import ABILITIES
from tests.config.authorisation.rules import IN, build_row
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_person, unique

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
    again = browser.post(f"{base}people/invitations/{code}/send/").content.decode()
    assert "/join/" in again
    assert link not in again
    browser.post(f"{base}people/invitations/{code}/withdraw/")
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
    path = f"{base}people/{bob.user.code}/role/"
    changed = browser.post(path, {"role": "manager"})
    assert changed.status_code == 302
    assert get_role(project, bob) == "manager"
    told, back = f"{bob.user.username} is a manager now", f"Make {bob.user.username}"
    page = browser.get(f"{base}people/").content.decode()
    assert told in page
    assert f"{back} a reviewer again" in page
    assert told not in browser.get(f"{base}people/").content.decode(), "told once"
    assert browser.post(path, {"role": "reviewer"}).status_code == 302
    assert get_role(project, bob) == "reviewer"
    own = f"{base}people/{cleo.user.code}"
    for refused in (
        browser.post(f"{own}/role/", {"role": "reviewer"}),
        browser.post(f"{own}/remove/"),
    ):
        assert refused.status_code == 422
        assert "last admin" in refused.content.decode()
    assert browser.post(f"{base}people/{bob.user.code}/remove/").status_code == 302
    assert not Membership.objects.filter(project=project, user=bob.user).exists()


def get_role(project: Project, person: Person) -> str:
    return Membership.objects.get(project=project, user=person.user).role


def test_an_admin_is_made_with_the_password_of_who_does_it(
    project: Project, cleo: Person, bob: Person
) -> None:
    browser, base = open_browser(cleo.user), get_base(project)
    path = f"{base}people/{bob.user.code}/role/"
    for given, said in (
        ({}, "Enter your password"),
        ({"password": ""}, "Enter your password"),
        ({"password": bob.password}, "This is not your password."),
        ({"password": cleo.password.lower() + " "}, "This is not your password."),
    ):
        refused = browser.post(path, {"role": "admin", **given})
        page = refused.content.decode()
        assert (refused.status_code, said in page) == (422, True)
        assert f'id="role-{bob.user.code}"' in page
        assert page.count("data-open-now") == 1
        assert get_role(project, bob) == "reviewer"
    done = browser.post(path, {"role": "admin", "password": cleo.password})
    assert done.status_code == 302
    assert get_role(project, bob) == "admin"
    page = browser.get(f"{base}people/").content.decode()
    assert f"{bob.user.username} is an admin now" in page
    assert f"Make {bob.user.username} a reviewer again" in page


def test_guessing_the_password_of_an_admin_is_slowed_down(
    project: Project, cleo: Person, bob: Person
) -> None:
    browser = open_browser(cleo.user)
    path = f"{get_base(project)}people/{bob.user.code}/role/"
    for _ in range(PAIR_LIMIT):
        browser.post(path, {"role": "admin", "password": "wrong"})
    right = browser.post(path, {"role": "admin", "password": cleo.password})
    assert "Too many failed attempts" in right.content.decode()
    assert get_role(project, bob) == "reviewer"
    lower = browser.post(path, {"role": "auditor"})
    assert lower.status_code == 302, "that takes no password"


def test_who_gives_up_the_settings_is_led_out_of_them(
    project: Project, cleo: Person
) -> None:
    make_person("second", role=Role.ADMIN, project=project)
    path = f"{get_base(project)}people/{cleo.user.code}/role/"
    gone = open_browser(cleo.user).post(path, {"role": "reviewer"})
    assert gone["Location"] == "/"
    assert get_role(project, cleo) == "reviewer"


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
    doors = (
        *("GET /reviews", "GET /webhooks", "POST /reviews/{review}/ruling"),
        *("POST /webhooks", "DELETE /people/{person}"),
    )
    rows = [build_row(door, OPERATIONS[door]) for door in doors]
    assert allowed == [
        {role.value for role in Role if row[role.value] == IN} for row in rows
    ]
