"""One reviewer halts by keyboard; everybody's page says so at once, until it is released."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_narrow import PHONE, fits
from tests.browser.test_policies import look_at, press
from tests.reviews.halts.halting import halt
from tests.support.builders import Person, start_run, step
from tests.support.problems import problem

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_halt_is_begun_seen_by_everybody_and_released(
    desk: Desk,
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    hers = queue_of(alice, project.slug)
    page = desk.open(f"/p/{project.slug}/halts/", person=bob)
    look_at(page)
    press(page, "link", "Halt …")
    expect(page.locator("#halt-new input:checked")).to_have_count(0)
    expect(page.get_by_role("button", name="Halt now")).to_have_count(0)
    expect(page.get_by_label("Label, as in team:shop")).to_be_hidden()
    expect(page.get_by_label("Also the runs below that run")).to_be_hidden()
    page.get_by_label("The whole project").focus()
    page.keyboard.press("Space")
    expect(page.locator("#effect")).to_contain_text("No run of any agent can start")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Run, by its id")).to_be_visible()
    look_at(page)
    page.get_by_label("Run, by its id").focus()
    page.keyboard.type(run)
    effect = page.locator("#effect")
    expect(effect).to_contain_text("Holds 1 open run")
    expect(effect).to_contain_text("robo 1")
    look_at(page)
    page.get_by_label("Why, shown to agents and people").focus()
    page.keyboard.type("It deletes too much.")
    press(page, "button", "Halt now")
    expect(page.locator("#halts")).to_contain_text("It deletes too much.")
    look_at(page)
    expect(hers.locator("#halts")).to_contain_text("It deletes too much.")
    look_at(hers)
    problem(agent.post(f"/runs/{run}/steps", json=step(1)), "halted")

    hers.goto(f"/p/{project.slug}/halts/")
    press(hers, "link", "Release …")
    expect(hers.get_by_role("heading", name="Let it go on")).to_be_visible()
    look_at(hers)
    hers.get_by_label("Why it is safe again").focus()
    hers.keyboard.type("Mended.")
    press(hers, "button", "Release")
    expect(hers.get_by_text("Nothing is halted.")).to_be_visible()
    expect(page.locator("#halts .notice")).to_have_count(0)
    assert agent.post(f"/runs/{run}/steps", json=step(1)).status_code == 201


def test_on_a_phone_the_banner_is_above_the_page(
    queue_of: Callable[..., Page], project: Project, bob: Person, reviewer: httpx.Client
) -> None:
    halt(reviewer, reason="It deletes too much.")
    page = queue_of(bob, project.slug, size=PHONE)
    banner, bar = page.locator("#halts"), page.locator(".pane .bar").first
    expect(banner).to_contain_text("It deletes too much.")
    above, below = banner.bounding_box(), bar.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]
    assert fits(page)
