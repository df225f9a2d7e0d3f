"""Marking a value as not a secret: readable by everybody, and by keyboard."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command
from tests.guidance.core.secrets.samples import body
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_manager_marks_a_value_and_takes_it_back(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    line = f"API_KEY={body(24)} PASSWORD={body(12)} ./build.sh"
    command(agent, run, line)
    page = desk.open(f"/p/{project.slug}/runs/{run}/", person=alice)
    assert violations(page) == ""
    page.get_by_role("link", name="Not a secret?").press("Enter")
    expect(page.get_by_role("radio")).to_have_count(2)
    assert violations(page) == ""
    page.get_by_label("Why it is not a secret").fill("printed in the manual")
    page.get_by_role("button", name="Mark as not a secret").press("Enter")
    row = page.locator(".permission", has_text="printed in the manual")
    expect(row).to_be_visible()
    assert violations(page) == ""
    row.get_by_role("button", name="Take back").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert violations(page) == ""
    dialog.get_by_role("button", name="Take back").press("Enter")
    expect(row).to_contain_text("Taken back by")
