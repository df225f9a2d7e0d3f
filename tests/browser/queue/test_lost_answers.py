"""What the console says when the server does not answer: no more than it knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from uuid import UUID

import httpx
import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from accounts.models import Project
from reviews.models import Review
from reviews.queue.agent_waits import store_waits
from tests.browser.conftest import Desk
from tests.browser.modules import expose_modules
from tests.support.builders import Person, pause_at_once, start_run

pytestmark = [
    pytest.mark.browser,
    pytest.mark.once("what a page says, not SQL"),
]
Open = Callable[..., Page]


@pytest.fixture(autouse=True)
def failures_are_on_purpose(desk: Desk) -> Iterator[None]:
    """The browser reports each request that fails; nothing else may be reported."""
    yield
    desk.complaints[:] = [
        text
        for text in desk.complaints
        if "Failed to load resource" not in text and "Failed to fetch" not in text
    ]


def lose_the_answer(route: Route) -> None:
    route.fetch()
    route.abort()


def answer_for_the_server(route: Route) -> None:
    route.fetch()
    route.fulfill(status=504, body="")


@pytest.mark.parametrize("lose", [lose_the_answer, answer_for_the_server])
def test_a_ruling_without_an_answer_may_stand_and_is_looked_up(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    lose: Callable[[Route], None],
) -> None:
    review = pause_at_once(agent, start_run(agent))
    path = f"/p/{project.slug}/queue/{review}/"
    page = desk.open(path, person=alice, sockets=False)
    page.route("**/rule/", lose)
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#toast")).to_contain_text(
        "It is not known whether this was taken."
    )
    expect(page.locator("#closing")).to_contain_text("You approved this")
    assert Review.objects.get(code=review).state == "ruled"


def test_what_nobody_asked_for_fails_in_silence(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    review = pause_at_once(agent, start_run(agent))
    store_waits({UUID(review): timezone.now()})
    page = queue_of(alice, project.slug)
    expose_modules(page)
    page.evaluate("modules.$js_toast.toast('The connection is lost')")
    page.route("**/agent/**", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.evaluate("htmx.trigger('#agent-wait', 'every')")
    page.wait_for_timeout(200)
    expect(page.locator("#toast")).to_contain_text("The connection is lost")
    page.unroute("**/agent/**")


def test_a_passing_remark_gives_way_to_what_still_holds(
    queue_of: Open, project: Project, alice: Person
) -> None:
    page = queue_of(alice, project.slug)
    expose_modules(page)
    page.evaluate(
        """() => {
            modules.$js_toast.toast("The connection is lost");
            modules.$js_toast.remark("This was refused", 300);
        }"""
    )
    box = page.locator("#toast")
    expect(box).to_contain_text("This was refused")
    expect(box).to_contain_text("The connection is lost")


@pytest.mark.parametrize("status", [None, 503], ids=["unreachable", "failing"])
def test_going_back_to_what_cannot_be_loaded_leaves_a_dock_that_works(
    queue_of: Open,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    status: int | None,
) -> None:
    first, second = (pause_at_once(agent, start_run(agent)) for _ in range(2))
    page = queue_of(alice, project.slug, f"{first}/")
    page.locator(f"#review-{second} a").click()
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    page.route(
        f"**/queue/{first}/**",
        lambda route: route.fulfill(status=status) if status else route.abort(),
    )
    page.go_back()
    expect(page.locator("#toast")).to_contain_text("could not be loaded")
    expect(page.locator("#dock")).not_to_have_js_property("inert", True)
    expect(page.locator(f"#review-{second} a")).to_have_attribute(
        "aria-current", "true"
    )
    expect(page).to_have_url(re.compile(f"/queue/{second}/$"))
    page.keyboard.press("a")
    expect(page.locator("#closing")).to_contain_text("You approved this")
    assert [Review.objects.get(code=code).state for code in (first, second)] == [
        "open",
        "ruled",
    ]
    page.unroute(f"**/queue/{first}/**")
