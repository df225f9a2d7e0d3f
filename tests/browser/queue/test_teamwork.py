"""Two people and one queue: they see each other, give reviews on and say why."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.test_accessibility import violations
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


@pytest.fixture
def review(agent: httpx.Client) -> str:
    code: str = pause_run(agent, start_run(agent))["review"]["id"]
    return code


def test_who_reads_a_review_is_seen_until_they_close_it(
    queue_of: Open, project: Project, alice: Person, bob: Person, review: str
) -> None:
    hers = queue_of(alice, project.slug)
    his = queue_of(bob, project.slug, f"{review}/")
    row = hers.locator(f"#review-{review} .readers")
    expect(row).to_contain_text(f"{bob.user.username} reading this")
    expect(hers.locator("#reading")).to_contain_text(bob.user.username)
    expect(his.locator("#reading")).to_contain_text(alice.user.username)
    assert violations(hers) == ""
    his.goto("about:blank")
    expect(row).to_have_count(0)
    expect(hers.locator("#reading")).to_be_hidden()


def test_a_review_is_handed_over_with_a_note(
    queue_of: Open, project: Project, alice: Person, bob: Person, review: str
) -> None:
    his = queue_of(bob, project.slug)
    hers = queue_of(alice, project.slug, f"{review}/")
    hers.keyboard.press("t")
    dialog = hers.get_by_role("dialog", name="Assign")
    dialog.get_by_role("combobox").select_option(bob.user.username)
    dialog.get_by_label("What they should know").fill("The 2025 table is right.")
    dialog.get_by_role("button", name="Assign").click()
    expect(dialog).to_be_hidden()
    expect(hers.locator("#claimed")).to_contain_text(f"{bob.user.username} was given")
    expect(his.locator(".handover")).to_contain_text("The 2025 table is right.")
    expect(his.locator('[data-count="mine"]')).to_have_text("1")
    assert violations(his) == ""
