"""What agents ask in their own words: shown as it is, answered in the dock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def open_review(agent: httpx.Client, **body: Any) -> tuple[str, str]:
    """A run and the review that its agent asked for."""
    run = start_run(agent)
    answer = agent.post(f"/runs/{run}/reviews", json=body)
    assert answer.status_code == 201, answer.text
    return run, answer.json()["id"]


def test_an_option_fills_the_answer_and_a_sends_it(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    run, review = open_review(
        agent,
        kind="question",
        title="Which region goes first?",
        detail="The plan names two.",
        options=["eu-west first", "us-east first"],
    )
    page = queue_of(bob, project.slug, f"{review}/")
    page.keyboard.press("a")  # nothing to send yet: the field is asked for
    answer = page.get_by_label("Your answer")
    expect(answer).to_be_focused()
    page.get_by_role("button", name="us-east first").click()
    expect(answer).to_have_value("us-east first")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.locator("#closing")).to_contain_text("You answered this")
    decision = agent.get(f"/runs/{run}/decision", params={"review": review}).json()
    assert decision["ruling"]["answer"] == "us-east first"
    assert decision["run_status"] == "running"


def test_a_request_can_be_denied(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    run, review = open_review(
        agent, kind="request", title="May I drop the old columns?"
    )
    page = queue_of(bob, project.slug, f"{review}/")
    page.get_by_label("Note to the agent").fill("Not before the backup")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    expect(page.locator("#closing")).to_contain_text("You denied this")
    decision = agent.get(f"/runs/{run}/decision", params={"review": review}).json()
    assert decision["ruling"]["action"] == "deny"
    assert decision["ruling"]["note"] == "Not before the backup"


def test_hostile_text_is_only_text(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    _, review = open_review(
        agent,
        kind="request",
        title="<img src=x onerror=alert(1)> \u202eevil\u202c",
        detail='</p><hx-partial hx-target="#dock">x</hx-partial>'
        "<script>alert(1)</script>\u200b",
    )
    page = queue_of(bob, project.slug)
    row = page.locator(f"#review-{review}")
    shown = "<img src=x onerror=alert(1)> ⟨U+202E⟩evil⟨U+202C⟩"
    expect(row.locator(".what")).to_have_text(shown)
    expect(page.get_by_role("heading", name=shown)).to_be_visible()
    expect(page.locator(".words")).to_contain_text("<script>alert(1)</script>⟨U+200B⟩")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    assert page.locator("#detail script, #detail img").count() == 0


def test_hostile_text_is_only_text_when_it_arrives_live(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    page = queue_of(bob, project.slug)
    title = '</hx-partial><hx-partial hx-target="body">gone</hx-partial>'
    _, review = open_review(agent, kind="question", title=title)
    expect(page.locator(f"#review-{review} .what")).to_have_text(title)
    expect(page.locator("#queue")).to_be_visible()
