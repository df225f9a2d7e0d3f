"""Whoever has the tree of a screen reader alone, roles and names, finds, reads and rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import Project
from reviews.models import Ruling
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
TITLE = "Which branch is released?"


@pytest.fixture
def page(
    queue_of: Callable[..., Page], project: Project, alice: Person, agent: httpx.Client
) -> Page:
    """The queue, with a command first and a question behind it."""
    ask_to_run(agent, "rm -rf build")
    asked: dict[str, Any] = {"kind": "question", "title": TITLE}
    asked |= {"detail": "Both have passed.", "options": ["main", "next"]}
    agent.post(f"/runs/{start_run(agent)}/reviews", json=asked)
    return queue_of(alice, project.slug)


def find_queue(page: Page) -> Locator:
    return page.get_by_role("region", name="Queue", exact=True)


def test_a_question_is_found_read_and_answered(page: Page, alice: Person) -> None:
    queue, review = find_queue(page), page.get_by_role("main")
    expect(queue.get_by_role("heading", name="Review queue")).to_be_visible()
    low = queue.get_by_role("list", name="Low")
    expect(low.get_by_role("checkbox", name=f"Select {TITLE}")).to_have_count(1)
    row = low.get_by_role("link", name=TITLE)
    row.press("Enter")
    expect(review.get_by_role("heading", level=1)).to_have_text(TITLE)
    expect(row).to_have_attribute("aria-current", "true")
    expect(review).to_match_aria_snapshot(
        f"""
        - main:
          - heading "{TITLE}" [level=1]
          - paragraph: /robo asks a question/
          - heading "What it asks" [level=2]
          - paragraph: Both have passed.
          - list:
            - listitem:
              - button "main"
            - listitem:
              - button "next"
          - region "History"
          - complementary "Properties"
          - form "Decision":
            - status
            - textbox "Your answer"
            - button /Answer/
        """
    )
    decision = review.get_by_role("form", name="Decision")
    # A region that is put in together with its text is read out by nobody.
    outcome = decision.get_by_role("status").first
    outcome.evaluate("region => { region.wasThere = true }")
    review.get_by_role("button", name="next").press("Enter")
    expect(decision.get_by_role("textbox", name="Your answer")).to_have_value("next")
    decision.get_by_role("button", name="Answer").press("Enter")
    expect(outcome).to_contain_text("You answered")
    assert outcome.evaluate("region => region.wasThere")
    expect(outcome).to_be_focused()
    expect(row).to_have_count(0)
    assert Ruling.objects.get(by=alice.user).answer == "next"


def test_what_a_second_key_is_for_is_said(page: Page, alice: Person) -> None:
    """What is severe takes its key twice: the first one says so where it is heard."""
    review = page.get_by_role("main")
    command = review.get_by_role("region", name="What would run")
    expect(command.get_by_role("code").first).to_contain_text("rm -rf build")
    page.keyboard.press("a")
    said = page.get_by_role("status").filter(has_text="press again to approve")
    expect(said).to_be_visible()
    assert not Ruling.objects.filter(by=alice.user).exists()
    review.get_by_role("button", name="Approve").press("Enter")
    outcome = review.get_by_role("form", name="Decision").get_by_role("status").first
    expect(outcome).to_contain_text("You approved this")
    expect(outcome).to_be_focused()


def test_the_list_is_one_stop_and_the_review_is_behind_it(page: Page) -> None:
    find_queue(page).get_by_role("searchbox", name="Search the queue").focus()
    stops: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        role: str = page.evaluate(
            """() => {
                const it = document.activeElement
                if (it.closest("main")) return "review"
                return it.closest("section #queue li") ? "row" : ""
            }"""
        )
        stops.append(role)
        if role == "review":
            break
    assert stops.count("row") == 1
    assert stops[-1] == "review"
