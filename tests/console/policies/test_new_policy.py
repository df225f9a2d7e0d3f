"""A policy begins on a page: a name, what it starts with, then the editor."""

from __future__ import annotations

import pytest

from accounts.models import Project
from guidance.models import Policy, PolicyVersion
from reviews.policies.services import create_version
from tests.console.policies.test_editor import find_typed, open_form, read
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_policy_is_named_written_and_published(
    project: Project, alice: Person
) -> None:
    make_policy("default", project=project, **{"continue": {"repeat_limit": 7}})
    browser = open_browser(alice.user)
    listed = browser.get(f"/p/{project.slug}/policies/").content.decode()
    address = f"/p/{project.slug}/new-policy/"
    assert f'href="{address}"' in listed
    assert browser.get(address).status_code == 200
    answer = browser.post(address, {"name": "docs", "start": "default"})
    there = f"/p/{project.slug}/policies/docs/edit/?start=default"
    assert answer["Location"] == there
    page = browser.get(there).content.decode()
    assert "docs draft of version 1 a new policy" in read(page)
    assert "repeat_limit: 7" in find_typed(page)
    assert not Policy.objects.filter(project=project, name="docs").exists()

    form = open_form(alice, project) | {"yaml": "budget: {tokens: 7}"}
    tried = browser.post(
        f"/p/{project.slug}/policies/docs/edit/", form | {"do": "backtest"}
    )
    assert "backtests" in tried["Location"]
    assert browser.get(tried["Location"]).status_code == 200
    done = browser.post(
        f"/p/{project.slug}/policies/docs/edit/", form | {"do": "publish"}
    )
    assert done["Location"] == f"/p/{project.slug}/policies/docs/"
    assert "version 1, in force" in read(browser.get(done["Location"]).content.decode())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "Give it a name."),
        ("default", "There is a policy of this name already."),
        ("My Policy", "Use small letters and digits"),
        ("assignments", "Use small letters and digits"),
        ("a" * 65, "at most 64 characters"),
    ],
)
def test_a_name_that_cannot_be_is_refused_beside_it(
    project: Project, alice: Person, name: str, said: str
) -> None:
    browser = open_browser(alice.user)
    answer = browser.post(f"/p/{project.slug}/new-policy/", {"name": name})
    assert answer.status_code == 422
    assert said in read(answer.content.decode())
    assert f'value="{name}"' in answer.content.decode()
    if name and name != "default":
        there = f"/p/{project.slug}/policies/{name}/edit/"
        assert browser.get(there).status_code == 404


def test_who_begins_the_same_policy_second_sees_the_first_and_loses_nothing(
    project: Project, alice: Person, bob: Person
) -> None:
    form = open_form(alice, project) | {"yaml": "budget: {tokens: 7}", "do": "publish"}
    create_version(
        project_id=project.pk,
        name="docs",
        document={"continue": {"repeat_limit": 6}},
        author=bob.principal,
        activate=True,
    )
    page = open_browser(alice.user).post(f"/p/{project.slug}/policies/docs/edit/", form)
    assert page.status_code == 409
    assert f"{bob.user.display_name} saved version 1" in read(page.content.decode())
    assert find_typed(page.content.decode()).rstrip() == form["yaml"]
    assert PolicyVersion.objects.filter(project=project, name="docs").count() == 1


def test_only_managers_begin_one(project: Project, bob: Person) -> None:
    browser = open_browser(bob.user)
    assert browser.get(f"/p/{project.slug}/new-policy/").status_code == 404
    listed = browser.get(f"/p/{project.slug}/policies/").content.decode()
    assert "New policy" not in listed
