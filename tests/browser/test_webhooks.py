"""The pages of webhooks in a browser: seen by axe, worked by keyboard, narrow, live."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from django.test.utils import override_settings
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.support.builders import Person
from tests.webhooks.hooks import add, tell
from tests.webhooks.receivers import Receiver, answer, receiving
from webhooks.delivery.worker import deliver
from webhooks.models import WebhookEndpoint
from webhooks.signing import get_secret

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


@pytest.fixture
def receiver(database: None) -> Iterator[Receiver]:
    WebhookEndpoint.objects.all().delete()
    with receiving() as server, override_settings(WEBHOOK_ALLOW=("127.0.0.0/8",)):
        yield server
    WebhookEndpoint.objects.all().delete()


def open_page(
    desk: Desk, project: Project, person: Person, path: str = "", **more: object
) -> Page:
    address = f"/p/{project.slug}/webhooks/{path}"
    return desk.open(address, person=person, **more)  # type: ignore[arg-type]


def test_axe_finds_nothing_and_nothing_sticks_out(
    desk: Desk,
    project: Project,
    alice: Person,
    manager: httpx.Client,
    receiver: Receiver,
) -> None:
    receiver.behaviours = {"/bad": answer(500, b"x" * 400), "/gone": answer(410)}
    page = open_page(desk, project, alice)
    expect(page.get_by_text("No webhooks yet")).to_be_visible()
    assert violations(page) == ""
    for path in ("/in", f"/bad?{'long' * 60}", "/gone", "/bad"):
        hook = add(manager, receiver.url(path))
    tell(project, 2)
    deliver()
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(page.locator(".receivers li")).to_have_count(4)
    assert violations(page) == ""
    assert page.locator("#webhooks").evaluate("it => it.scrollWidth <= it.clientWidth")
    page.goto(f"/p/{project.slug}/webhooks/{hook.code}/")
    page.locator("summary").nth(1).click()
    expect(page.locator(".inside pre").nth(1)).to_be_visible()
    assert violations(page) == ""
    assert page.locator("#webhook-page").evaluate(
        "it => it.scrollWidth <= it.clientWidth"
    )


def test_added_tested_and_deleted_by_keyboard(
    desk: Desk, project: Project, alice: Person, receiver: Receiver
) -> None:
    page = open_page(desk, project, alice)
    page.get_by_label("URL").fill(receiver.url("/in"))
    page.keyboard.press("Enter")
    secret = page.get_by_label("Secret", exact=True)
    expect(secret).to_be_visible()
    assert secret.input_value() == get_secret(WebhookEndpoint.objects.get())
    page.get_by_role("button", name="Send a test").focus()
    page.keyboard.press("Enter")
    row = page.locator(".deliveries li")
    expect(row).to_contain_text("Queued")
    expect(secret).to_be_hidden()
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    deliver()
    # The page fetches itself until it is done, and what was open stays open.
    expect(row).to_contain_text("Delivered")
    expect(row.locator("table")).to_contain_text("thanks")
    page.get_by_role("button", name="Delete").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Delete this webhook?")
    expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No webhooks yet")).to_be_visible()


def test_without_a_script_it_works_all_the_same(
    desk: Desk, project: Project, alice: Person, receiver: Receiver
) -> None:
    page = open_page(desk, project, alice, scripts=False)
    page.get_by_label("URL").fill(receiver.url("/in"))
    page.get_by_role("button", name="Add webhook").click()
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_text("Disabled by alice")).to_be_visible()
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_role("button", name="Send a test")).to_be_visible()
