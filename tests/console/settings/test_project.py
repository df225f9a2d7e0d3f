"""The tab Project: admins change it and make another one; others see it."""

from __future__ import annotations

import pytest

from accounts.models import Project
from tests.support.browsing import open_browser
from tests.support.builders import Person, unique

pytestmark = pytest.mark.once("forms and pages, not SQL")


def test_an_admin_changes_it_and_errors_stand_at_their_fields(
    project: Project, cleo: Person, alice: Person
) -> None:
    browser, path = open_browser(cleo.user), f"/p/{project.slug}/settings/project/"
    good = {"name": "Shop", "default_policy": "default", "agents_choose_policy": "on"}
    good["retention_days"] = "90"
    assert browser.post(f"{path}change/", good).status_code == 302
    assert browser.post(f"{path}change/", good).status_code == 302  # nothing to change
    changed = Project.objects.get(pk=project.pk)
    assert (changed.name, changed.agents_choose_policy) == ("Shop", True)
    assert changed.retention_days == 90
    for place, wrong in (
        ("name-error", {"name": ""}),
        ("policy-error", {"default_policy": "absent"}),
        ("retention-error", {"retention_days": "29"}),
    ):
        answer = browser.post(f"{path}change/", good | wrong)
        assert answer.status_code == 422
        assert f'id="{place}"' in answer.content.decode()
    other = open_browser(alice.user)
    assert "Admins may change this" in other.get(path).content.decode()
    assert other.post(f"{path}change/", good).status_code == 403


def test_another_project_begins_at_its_start(project: Project, cleo: Person) -> None:
    browser, path = open_browser(cleo.user), f"/p/{project.slug}/settings/project/make/"
    slug = unique("another")
    made = browser.post(path, {"name": "Another", "slug": slug})
    assert made["Location"] == f"/p/{slug}/settings/start/"
    assert browser.get(made["Location"]).status_code == 200
    again = browser.post(path, {"name": "Another", "slug": slug})
    assert again.status_code == 422
    assert 'id="slug-error"' in again.content.decode()
