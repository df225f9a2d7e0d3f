"""The server is killed and comes back: open pages catch up by themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Desk
from tests.support.builders import pause_run, start_run
from tests.support.processes import manage, up
from tests.support.programs.ports import reserve_port

pytestmark = [
    pytest.mark.once("looks at pages, whatever database is behind them"),
]
# What three commands would do in three processes.
CAST = """
import json
from accounts.models import Role, User
from accounts.services import add_person, issue_agent_key
from console.models import Preferences
people = [
    add_person(name=name, role=Role.REVIEWER, project_slug="main")
    for name in ("alice", "bob")
]
User.objects.update(must_change_password=False)
for each in people:
    Preferences.objects.create(user=each.user, takes_back=False, introduced=True)
_, key = issue_agent_key(name="robo", project_slug="main")
passwords, tokens = (
    {each.user.username: getattr(each, name) for each in people}
    for name in ("password", "token")
)
print(json.dumps([passwords, key, tokens]))
"""


def signed_in(desk: Desk, name: str, password: str) -> Page:
    page = desk.open("/sign-in/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    return page


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    """Closed whatever becomes of the test."""
    with ExitStack() as stack:
        yield stack


def test_both_browsers_catch_up_after_a_kill(
    browser: Browser, clients: ExitStack, tmp_path: Path
) -> None:
    port = clients.enter_context(reserve_port())
    with up(tmp_path, port=port) as server:
        url = server.live.url
        made = manage(
            *("shell", "--no-imports", "-c", CAST), CHECKRAIL_DATA=str(tmp_path)
        )
        people, key, _ = json.loads(made.stdout)
        desk = Desk(browser, url)
        pages = [signed_in(desk, *person) for person in people.items()]
        agent = clients.enter_context(
            httpx.Client(
                base_url=server.live.api, headers={"Authorization": f"Bearer {key}"}
            )
        )
        before = pause_run(agent, start_run(agent))["review"]["id"]
        for page in pages:
            page.locator(f"#review-{before} a").click()
            page.get_by_label("Note to the agent").fill("Half a thought")
            page.evaluate("window.loadedOnce = true")
        server.kill()
    for page in pages:
        expect(page.locator("#conn")).to_have_text("reconnecting")
        expect(page.locator("#toast")).to_contain_text("connection is lost")
    with up(tmp_path, port=port):
        after = pause_run(agent, start_run(agent))["review"]["id"]
        for page in pages:
            expect(page.locator(f"#review-{after}")).to_be_visible()
            expect(page.locator("#conn")).to_have_attribute("data-state", "live")
            expect(page.locator("#toast")).to_be_hidden()
            expect(page.locator(f"#note-{before}")).to_have_value("Half a thought")
            assert page.evaluate("window.loadedOnce")
        pages[0].get_by_role("button", name="Approve").click()
        expect(pages[1].locator("#closing")).to_contain_text("alice approved this")
        expect(pages[1].locator(f"#note-{before}")).to_have_value("Half a thought")
        desk.close()
