"""The tool gateway's pages: from the list to a draft, readable for everybody."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command, rule
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_manager_goes_from_a_rule_to_its_draft(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    page = desk.open(f"/p/{project.slug}/gateway/", person=alice)
    expect(page.get_by_role("heading", name="Nobody was asked")).to_be_visible()
    assert violations(page) == ""
    run = start_run(agent)
    rule(reviewer, command(agent, run, "rm -rf a"), "approve")
    rule(reviewer, command(agent, run, "git branch -D b"), "deny")
    page.reload()
    expect(page.locator("#rule-delete-folder")).to_contain_text("approved 1 of 1")
    assert violations(page) == ""
    denied = page.locator("#rule-git-branch-delete")
    expect(denied).to_contain_text("approved 0 of 1")
    expect(denied.get_by_role("button")).to_have_count(0)
    page.get_by_role("button", name="Warn instead").click()
    expect(page.get_by_role("heading", name="Backtest")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    wider = "document.documentElement.scrollWidth > innerWidth"
    assert page.evaluate(wider) is False
