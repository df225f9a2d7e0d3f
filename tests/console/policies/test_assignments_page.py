"""The page of assignments: ordered, tried on the last week, saved as a whole."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from accounts.models import Project
from guidance.core.policy.assignments import Assignment, Match
from reviews.policies.assignments import list_assignments, replace_assignments
from tests.console.policies.test_editor import read
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

DOCS = Assignment(match=Match(intent="docs"), policy="docs")
SHOP = Assignment(match=Match(label="repo:shop"), policy="shop")


@pytest.fixture(autouse=True)
def policies(project: Project) -> None:
    for number, name in enumerate(("docs", "shop"), 1):
        make_policy(name, project=project, runs={"abandon_after_s": 60 * number})


def build_form(html: str, *rows: Assignment, **more: Any) -> dict[str, Any]:
    (seen,) = re.findall(r'name="seen" value="([^"]*)"', html)
    names = ("agent", "label", "intent", "model")
    columns = {name: [getattr(row.match, name) for row in rows] for name in names}
    return {**columns, "policy": [row.policy for row in rows], "seen": seen, **more}


def list_rows(html: str) -> list[str]:
    """The policy of each row, in order, without the empty one at the end."""
    rows = re.findall(r'<li id="row-\d+">.*?</fieldset>', html, re.S)
    return [re.findall(r"<option selected>(\w+)</option>", row)[-1] for row in rows]


def test_rows_are_added_ordered_previewed_and_saved(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    start_run(agent, intent="docs", task="Write the guide")
    start_run(agent, intent="docs", labels={"repo": "shop"}, task="Write of the shop")
    start_run(agent)
    browser = open_browser(alice.user)
    there = f"/p/{project.slug}/assignments/"
    page = browser.get(there).content.decode()
    assert "All other runs get default 3 runs of the last week" in read(page)

    previewed = browser.post(there, build_form(page, DOCS, SHOP, do="preview"))
    said = read(previewed.content.decode())
    assert "not saved" in said
    assert re.search(r"2 runs of the last week .*Write of the shop", said)
    assert "0 runs of the last week None." in said
    assert "get default 1 run of the last week" in said
    assert list(list_assignments(project.pk)) == []

    moved = browser.post(there, build_form(page, DOCS, SHOP, do="up:1"))
    html = moved.content.decode()
    assert list_rows(html) == ["shop", "docs"]
    assert read(html).count("1 run of the last week") == 3
    removed = browser.post(there, build_form(page, DOCS, SHOP, do="remove:0"))
    assert list_rows(removed.content.decode()) == ["shop"]

    saved = browser.post(there, build_form(page, SHOP, DOCS, do="save"))
    assert saved["Location"] == there
    assert list(list_assignments(project.pk)) == [SHOP, DOCS]
    assert "not saved" not in read(browser.get(there).content.decode())


def test_what_is_wrong_stands_at_its_row_and_nothing_is_saved(
    project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    there = f"/p/{project.slug}/assignments/"
    page = browser.get(there).content.decode()
    wrong = [
        Assignment(match=Match(agent="nobody", label="shop"), policy="docs"),
        Assignment(match=Match(), policy="docs"),
    ]
    answer = browser.post(there, build_form(page, DOCS, *wrong, do="save"))
    html = answer.content.decode()
    assert answer.status_code == 422
    for place, said in {
        "agent-1": "no agent of this name",
        "label-1": "must be name:value",
        "agent-2": "name an agent, a label, an intent or a model",
    }.items():
        assert re.search(rf'id="{place}-error" role="alert">{said}', html)
    assert 'value="nobody"' in html
    unchosen = Assignment(match=Match(intent="docs"), policy="")
    html = browser.post(there, build_form(page, unchosen)).content.decode()
    assert re.search(r'id="policy-0-error" role="alert">choose one', html)
    assert list(list_assignments(project.pk)) == []


def test_the_second_of_two_managers_sees_the_change_and_loses_no_typing(
    project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    there = f"/p/{project.slug}/assignments/"
    page = browser.get(there).content.decode()
    replace_assignments(project_id=project.pk, assignments=[SHOP])
    answer = browser.post(there, build_form(page, DOCS, do="save"))
    html = answer.content.decode()
    assert answer.status_code == 409
    assert "Somebody changed the assignments while you were writing." in read(html)
    assert "label repo:shop gets shop" in read(html)
    assert list_rows(html) == ["docs"]
    assert list(list_assignments(project.pk)) == [SHOP]
    again = browser.post(there, build_form(html, SHOP, DOCS, do="save"))
    assert again.status_code == 302
    assert list(list_assignments(project.pk)) == [SHOP, DOCS]


def test_others_read_them_and_change_nothing(
    project: Project, alice: Person, bob: Person, charlie: Person
) -> None:
    replace_assignments(project_id=project.pk, assignments=[DOCS], by=alice.principal)
    there = f"/p/{project.slug}/assignments/"
    browser = open_browser(bob.user)
    html = browser.get(there).content.decode()
    assert "intent docs gets docs" in read(html)
    assert "Save" not in read(html)
    assert browser.post(there, {"do": "save"}).status_code == 403
    assert list(list_assignments(project.pk)) == [DOCS]
    assert open_browser(charlie.user).get(there).status_code == 404
