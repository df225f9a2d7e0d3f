"""Signing in and out, the first password, and who belongs nowhere."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.test import Client

from accounts.models import Membership, Project, User
from tests.support.browsing import FRAGMENT, open_browser
from tests.support.builders import Person, make_project

pytestmark = pytest.mark.once("asks who may, before any SQL of its own")


def test_home_leads_to_the_first_project(project: Project, alice: Person) -> None:
    client = open_browser(alice.user)
    assert client.get("/")["Location"] == f"/p/{project.slug}/queue/"
    client.logout()
    assert client.get("/")["Location"] == "/sign-in/?next=%2F"


def test_who_is_in_no_project_is_told_how_to_get_into_one(bob: Person) -> None:
    Membership.objects.filter(user=bob.user).delete()
    answer = open_browser(bob.user).get("/")
    assert answer.status_code == 404
    assert f"user_add {bob.user.username}" in answer.content.decode()


def test_projects_can_be_switched_only_where_there_are_several(
    project: Project, alice: Person
) -> None:
    client = open_browser(alice.user)
    path = f"/p/{project.slug}/queue/"
    assert 'class="switch"' not in client.get(path).content.decode()
    other = make_project()
    Membership.objects.create(project=other, user=alice.user, role="reviewer")
    assert f"/p/{other.slug}/queue/" in client.get(path).content.decode()


def test_the_way_back_after_the_sign_in_stays_on_this_site(alice: Person) -> None:
    form = {"username": alice.user.username, "password": alice.password}
    for wanted, led in (("/p/x/runs/", "/p/x/runs/"), ("https://evil.example/", "/")):
        answer = Client().post("/sign-in/", {**form, "next": wanted})
        assert answer["Location"] == led


def test_the_way_back_from_an_action_leads_to_its_page(project: Project) -> None:
    """A page can be read again after the sign-in; what was posted cannot."""
    page = f"/p/{project.slug}/loop/?outcome=noop"
    there = {**FRAGMENT, "HX-Current-URL": f"http://testserver{page}"}
    answer = Client().post(f"/p/{project.slug}/loop/wake/", headers=there)
    assert answer["HX-Redirect"] == "/sign-in/?" + urlencode({"next": page})


def test_signing_out_needs_a_post(alice: Person) -> None:
    client = open_browser(alice.user)
    assert client.get("/sign-out/")["Location"] == "/"
    assert client.get("/").status_code == 302
    assert "_auth_user_id" in client.session
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/")["Location"].startswith("/sign-in/")


def test_a_given_password_is_changed_before_anything_else(
    project: Project, bob: Person
) -> None:
    User.objects.filter(pk=bob.user.pk).update(must_change_password=True)
    client = open_browser(bob.user)
    path = f"/p/{project.slug}/queue/"
    assert client.get(path)["Location"] == "/password/"
    assert client.get(path, headers=FRAGMENT)["HX-Redirect"] == "/password/"
    short = {"new_password1": "short", "new_password2": "short"}
    assert client.post("/password/", short).status_code == 422
    good = dict.fromkeys(("new_password1", "new_password2"), "seven quiet otters")
    assert client.post("/password/", good)["Location"] == "/"
    assert client.get(path).status_code == 200
    assert User.objects.get(pk=bob.user.pk).check_password("seven quiet otters")


def test_later_the_present_password_is_asked_for(bob: Person) -> None:
    client = open_browser(bob.user)
    good = dict.fromkeys(("new_password1", "new_password2"), "seven quiet otters")
    assert client.post("/password/", good).status_code == 422
    form = {**good, "old_password": bob.password}
    assert client.post("/password/", form)["Location"] == "/"
