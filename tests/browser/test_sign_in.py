"""The way in and the way out."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from accounts.models import Membership, Project, User
from tests.browser.conftest import Desk
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_wrong_password_is_explained_and_the_right_one_leads_where_one_wanted(
    desk: Desk, project: Project, alice: Person
) -> None:
    page = desk.open(f"/p/{project.slug}/runs/")
    page.get_by_label("Name").fill(alice.user.username)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not match")
    page.get_by_label("Password").fill(alice.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.get_by_role("button", name="account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_given_password_is_replaced_at_first(
    desk: Desk, project: Project, bob: Person
) -> None:
    User.objects.filter(pk=bob.user.pk).update(must_change_password=True)
    page = desk.open("/sign-in/")
    page.get_by_label("Name").fill(bob.user.username)
    page.get_by_label("Password").fill(bob.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Choose your password")).to_be_visible()
    page.goto(f"/p/{project.slug}/queue/")
    expect(page.get_by_role("heading", name="Choose your password")).to_be_visible()
    page.get_by_label("New password", exact=True).fill("123456789012")
    page.get_by_label("New password again").fill("123456789012")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    page.get_by_label("New password", exact=True).fill("seven quiet otters")
    page.get_by_label("New password again").fill("seven quiet otters")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Review queue")).to_be_visible()


def test_a_session_that_ended_elsewhere_is_told_and_keeps_the_note(
    queue_of: Callable[..., Page],
    project: Project,
    bob: Person,
    agent: httpx.Client,
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    page = queue_of(bob, project.slug, f"{review}/")
    page.get_by_label("Note to the agent").fill("Half a thought")
    Session.objects.all().delete()
    toast = page.locator("#toast")
    expect(toast).to_contain_text("You are signed out")
    toast.get_by_role("link").click()
    page.get_by_label("Name").fill(bob.user.username)
    page.get_by_label("Password").fill(bob.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Note to the agent")).to_have_value("Half a thought")


def test_who_left_the_project_sees_no_more_of_it(
    queue_of: Callable[..., Page], project: Project, bob: Person
) -> None:
    page = queue_of(bob, project.slug)
    Membership.objects.filter(user=bob.user, project=project).delete()
    expect(page.locator("#toast")).to_contain_text("no longer have access")
