"""A review goes from hand to hand: claimed, handed over with a note, taken over."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.test_accessibility import violations
from tests.browser.test_narrow import PHONE, fits
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


@pytest.fixture
def review(agent: httpx.Client) -> str:
    code: str = pause_run(agent, start_run(agent))["review"]["id"]
    return code


def test_who_goes_home_leaves_a_note_for_everybody(
    queue_of: Open, project: Project, alice: Person, bob: Person, review: str
) -> None:
    hers = queue_of(alice, project.slug, f"{review}/")
    hers.keyboard.press("c")
    expect(hers.get_by_role("button", name="Release")).to_be_visible()
    hers.keyboard.press("t")
    dialog = hers.get_by_role("dialog", name="Hand over")
    dialog.get_by_role("combobox").select_option("Everybody")
    dialog.get_by_role("button", name="Hand over").press("Enter")
    expect(dialog.get_by_text("Say what the next person should know.")).to_be_visible()
    assert violations(hers) == ""
    dialog.get_by_label("What they should know").fill("Wait for the backup of 22:00.")
    hers.keyboard.press("ControlOrMeta+Enter")
    expect(dialog).to_be_hidden()
    expect(hers.get_by_role("button", name="Claim")).to_be_visible()
    his = queue_of(bob, project.slug, f"{review}/", size=PHONE)
    note = his.get_by_role("region", name="Note from the person before")
    expect(note).to_contain_text(alice.user.username)
    expect(note).to_contain_text("Wait for the backup of 22:00.")
    assert fits(his)
    assert violations(his) == ""


def test_a_take_over_is_told_to_both(
    queue_of: Open, project: Project, alice: Person, bob: Person, review: str
) -> None:
    hers = queue_of(alice, project.slug, f"{review}/", size=PHONE)
    hers.get_by_role("button", name="Claim").press("Enter")
    expect(hers.get_by_role("button", name="Release")).to_be_visible()
    his = queue_of(bob, project.slug, f"{review}/")
    expect(his.locator("#claimed")).to_contain_text(
        f"{alice.user.username} has claimed this"
    )
    expect(his.get_by_role("button", name="Take over")).to_be_visible()
    his.keyboard.press("c")
    expect(his.locator("#claimed")).to_contain_text(
        f"You took this over from {alice.user.username}, who was told"
    )
    expect(hers.locator("#claimed")).to_contain_text(
        f"{bob.user.username} took this over from you"
    )
    expect(hers.get_by_role("button", name="Take over")).to_be_visible()
    assert violations(his) == ""
    assert violations(hers) == ""
    assert fits(hers)
