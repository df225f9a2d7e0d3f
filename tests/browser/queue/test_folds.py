"""What is alike is one row on screen: opened by a key, counted live, walked through."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person
from tests.support.people import rule

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def test_a_fold_opens_counts_and_is_walked_through(
    queue_of: Open,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    manager: httpx.Client,
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abcde"]
    other = ask_to_run(agent, "git push --force origin main")
    page = queue_of(alice, project.slug)
    fold, detail = page.locator("#queue li.like"), page.locator("#detail")
    expect(fold).to_contain_text("5 like this")
    expect(detail).to_have_attribute("data-code", calls[0])
    expect(page.locator("[data-place]")).to_have_text("1 of 6")
    calls.append(ask_to_run(agent, "rm -rf build/f"))
    expect(fold).to_contain_text("6 like this")
    page.keyboard.press("j")
    expect(detail).to_have_attribute("data-code", other)
    expect(page.locator("[data-place]")).to_have_text("7 of 7")
    page.keyboard.press("k")
    expect(detail).to_have_attribute("data-code", calls[0])
    page.keyboard.press("o")
    expect(fold.locator(".kids li")).to_have_count(6)
    page.keyboard.press("j")
    expect(detail).to_have_attribute("data-code", calls[1])
    expect(page.locator("[data-place]")).to_have_text("2 of 7")
    rule(manager, calls[2], "deny")
    expect(fold.locator(".kids li")).to_have_count(5)
    expect(fold).to_contain_text("5 like this")
    page.keyboard.press("o")
    expect(fold.locator(".kids")).to_have_count(0)
    rule(manager, calls[0], "deny")
    expect(fold).to_have_count(0)
    expect(page.locator("#queue li")).to_have_count(5)
    ask_to_run(agent, "rm -rf build/g")
    expect(fold).to_contain_text("5 like this")
    expect(page.locator("#queue li")).to_have_count(2)
