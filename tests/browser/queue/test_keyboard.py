"""The queue by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def open_pauses(agent: httpx.Client, *, count: int) -> list[str]:
    """So many reviews, the longest wait first."""
    return [pause_run(agent, start_run(agent))["review"]["id"] for _ in range(count)]


def test_j_and_k_walk_the_queue_and_the_address_follows(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second, third = open_pauses(agent, count=3)
    page = queue_of(alice, project.slug)
    shown = page.locator("#detail")
    expect(shown).to_have_attribute("data-code", first)
    for key, code, place in (
        ("j", second, "2 of 3"),
        ("j", third, "3 of 3"),
        ("j", third, "3 of 3"),
        ("k", second, "2 of 3"),
    ):
        page.keyboard.press(key)
        expect(shown).to_have_attribute("data-code", code)
        expect(page.locator("[data-place]")).to_have_text(place)
    expect(page).to_have_url(re.compile(f"/queue/{second}/$"))
    page.go_back()
    expect(shown).to_have_attribute("data-code", third)
    expect(page.locator("#queue [aria-current]")).to_have_attribute(
        "data-open-row", third
    )


def test_c_claims_a_approves_and_j_goes_on_where_the_row_was(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    _, second, third = open_pauses(agent, count=3)
    page = queue_of(alice, project.slug)
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    page.keyboard.press("c")
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator("#closing")).to_contain_text("You approved this")
    expect(page.locator("#nav-queue-count")).to_have_text("2")
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", third)


def test_an_abort_asks_first_and_escape_takes_it_back(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    open_pauses(agent, count=1)
    page = queue_of(alice, project.slug)
    page.keyboard.press("b")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("for good")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("a")  # silent while a dialog is open
    page.keyboard.press("Space")  # and no switch has the focus
    expect(page.get_by_label("Single-key shortcuts")).to_be_checked()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()


def test_letters_are_letters_while_typing(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    page.keyboard.press("n")
    note = page.locator(f"#note-{first}")
    expect(note).to_be_focused()
    page.keyboard.type("a jack")
    expect(note).to_have_value("a jack")
    page.keyboard.press("Escape")
    expect(note).not_to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    expect(page.locator(f"#note-{second}")).to_have_value("")
    page.keyboard.press("k")
    expect(page.locator(f"#note-{first}")).to_have_value("a jack")
    page.reload()
    expect(page.locator(f"#note-{first}")).to_have_value("a jack")


def test_after_a_ruling_the_focus_is_on_the_outcome(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    _, second = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    outcome = page.locator("#outcome")
    expect(outcome).to_have_attribute("role", "status")
    expect(outcome).to_be_empty()
    page.get_by_role("button", name="Approve").click()
    expect(outcome).to_contain_text("You approved this")
    expect(outcome).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    page.keyboard.press("a")
    expect(outcome).to_contain_text("You approved this")
    expect(outcome).to_be_focused()


def test_single_keys_can_be_switched_off_and_on_again(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    approve = page.get_by_role("button", name="Approve")
    expect(approve).to_have_attribute("aria-keyshortcuts", "A")
    page.keyboard.press("?")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    for _ in range(2):
        expect(approve).not_to_have_attribute("aria-keyshortcuts", "A")
        expect(approve.locator("kbd")).to_be_hidden()
        for key in ("j", "a", "?"):
            page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("#detail")).to_have_attribute("data-code", first)
        expect(approve).to_be_visible()
        page.reload()
    page.get_by_role("button", name=f"{alice.user.display_name}: account").click()
    page.get_by_role("button", name="Keyboard").click()
    page.get_by_label("Single-key shortcuts").check()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    expect(approve).to_have_attribute("aria-keyshortcuts", "A")


def test_the_theme_is_remembered(
    queue_of: Open, project: Project, alice: Person
) -> None:
    page = queue_of(alice, project.slug)
    root = page.locator("html")
    page.get_by_role("button", name="Switch theme").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")


def test_a_key_that_is_held_acts_once(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    _, second = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    page.keyboard.down("a")
    expect(page.locator("#closing")).to_contain_text("You approved this")
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    page.keyboard.down("a")  # not released in between: the key repeats itself
    page.keyboard.up("a")
    page.keyboard.press("n")  # whatever was sent before has been sent by now
    expect(page.locator(f"#note-{second}")).to_be_focused()
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    expect(page.locator("#closing")).to_have_count(0)
    expect(page.locator("#nav-queue-count")).to_have_text("1")
