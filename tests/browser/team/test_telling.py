"""A reviewer writes to the agent from the review that it waits for."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.test_accessibility import violations
from tests.browser.test_narrow import PHONE, fits
from tests.reviews.agent_notes.telling import list_notes, list_words
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.people import rule

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


@pytest.mark.parametrize("size", [None, PHONE], ids=["wide", "phone"])
def test_the_agent_hears_it_with_the_decision(
    queue_of: Open,
    project: Project,
    agent: httpx.Client,
    reviewer: httpx.Client,
    bob: Person,
    size: dict[str, int] | None,
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    given = {"size": size} if size else {}
    page = queue_of(bob, project.slug, f"{review}/", **given)
    page.get_by_role("button", name="Tell the agent").click()
    dialog = page.get_by_role("dialog", name="Tell robo")
    expect(dialog.get_by_role("textbox", name="Note")).to_be_focused()
    assert violations(page) == ""
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_be_visible()  # nothing was written
    dialog.get_by_role("textbox", name="Note").fill("Keep dist")
    dialog.get_by_role("textbox", name="Tags").fill("scope")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#toast")).to_contain_text("robo hears it")
    assert fits(page)
    (note,) = list_notes(agent, run)
    assert (note["text"], note["tags"]) == ("Keep dist", ["scope"])
    page.get_by_role("button", name="Tell the agent").click()
    expect(dialog.get_by_role("textbox", name="Note")).to_have_value("")
    rule(reviewer, review, "approve")
    heard = agent.get(f"/runs/{run}/decision?review={review}").json()
    assert list_words(heard) == ["Keep dist"]


def test_an_auditor_is_not_offered_it(
    queue_of: Open, project: Project, agent: httpx.Client, dora: Person
) -> None:
    review = pause_at_once(agent, start_run(agent))
    page = queue_of(dora, project.slug, f"{review}/")
    expect(page.locator("#detail h1")).to_be_visible()
    expect(page.get_by_role("button", name="Tell the agent")).to_have_count(0)
