"""What the fields of the editor say beside what is typed, and rules chosen at a glance."""

from __future__ import annotations

import re

import pytest

from accounts.models import Project
from guidance.yaml_documents import parse_yaml
from tests.console.policies.test_editor import address, find_typed, open_form, read
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, make_policy

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_what_a_rule_leads_to_is_chosen_at_a_glance(
    project: Project, alice: Person
) -> None:
    make_policy("docs", project=project)
    browser = open_browser(alice.user)
    form = open_form(alice, project)
    form["yaml"] = "tools: {rules: {delete-folder: warn, own: block}}\n"
    html = send(browser, address(project, "check/"), **form).content.decode()
    offered = re.findall(
        r'name="f:tools.rules.([^"]*)" value="([^"]*)"( checked)?', html
    )
    values = ["", "allow", "warn", "require-confirmation", "block"]
    assert [value for rule, value, _ in offered if rule == "own"] == values
    assert [(rule, value) for rule, value, on in offered if on] == [
        ("delete-folder", "warn"),
        ("own", "block"),
    ]
    assert "delete-folder not set allow note ask block was ask" in read(html)
    form["side"] = "form"
    form |= {"f:tools.rules.delete-folder": "allow", "f:tools.rules.own": ""}
    html = send(browser, address(project, "check/"), **form).content.decode()
    document = parse_yaml(find_typed(html)).document
    assert document["tools"]["rules"] == {"delete-folder": "allow"}


def test_fields_say_between_which_values_and_how_long_so_many_seconds_are(
    project: Project, alice: Person
) -> None:
    make_policy("docs", project=project)
    page = open_browser(alice.user).get(address(project)).content.decode()
    said = read(page)
    assert "Rework limit A larger share of the window that redoes" in said
    assert "pauses. 0 to 100." in said
    assert "Fewer steps are not judged; at most “Rework window”. 1 to 100." in said
    assert "No delay is longer. ms 1 min, default" in said
    assert "valid, no changes" in said


def test_how_it_stands_is_said_where_it_stays_in_sight(
    project: Project, alice: Person
) -> None:
    make_policy("docs", project=project)
    browser = open_browser(alice.user)
    form = open_form(alice, project)
    for yaml, said in {
        "budget: {tokens: 5}": "valid, 1 change",
        "budget: {tokens: 0}": "1 fault",
    }.items():
        form["yaml"] = yaml
        html = send(browser, address(project, "check/"), **form).content.decode()
        assert said in read(html), said
    assert "must be at least 1" in read(html)
    bar = browser.get(address(project)).content.decode().partition('class="scroll"')[0]
    assert 'id="draft-state"' in bar
