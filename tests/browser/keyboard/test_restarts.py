"""The server is killed again and again under somebody who rules by keys: whatever was on
its way, each ruling is on the review whose content was on screen."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Desk
from tests.browser.queue.test_cursor_property import KEYS, RECORDER
from tests.browser.test_restart import CAST, signed_in
from tests.reviews.floods import ask_to_run
from tests.support.builders import start_run, step
from tests.support.examples import ALL
from tests.support.live import Live
from tests.support.people import get_seen
from tests.support.processes import manage, up
from tests.support.programs.ports import reserve_port

pytestmark = [
    pytest.mark.once("looks at pages, whatever database is behind them"),
    pytest.mark.timeout(2_400 if ALL else 600),
]
RESTARTS = 10 if ALL else 1
# Of keys, clicks and what others do, while the server is there and while it is not.
ROUNDS, ROUNDS_ALONE = (25, 6) if ALL else (8, 3)
WANTED = 12
BACK_MS = 120_000


class Others:
    """The agents that ask, and bob, who rules and claims meanwhile."""

    def __init__(self, dice: random.Random, clients: ExitStack, live: Live) -> None:
        self.dice, self.clients, self.live = dice, clients, live
        self.opened: list[str] = []

    def connect(self, secret: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {secret}"}
        client = httpx.Client(base_url=self.live.api, headers=headers, timeout=60)
        return self.clients.enter_context(client)

    def sign_in(self, *, key: str, token: str) -> None:
        self.agent, self.reviewer = self.connect(key), self.connect(token)

    def arrive(self) -> None:
        number = len(self.opened)
        if self.dice.random() < 0.3:
            self.opened.append(ask_to_run(self.agent, f"rm -rf build-{number}"))
            return
        body = step(1, uncertainty=0.95, summary=f"Step of run {number}")
        answer = self.agent.post(f"/runs/{start_run(self.agent)}/steps", json=body)
        self.opened.append(answer.json()["review"]["id"])

    def act(self) -> None:
        """Somebody else does something; that they may be too late is fine."""
        waiting = self.reviewer.get("/reviews?state=open&limit=100").json()["items"]
        if len(waiting) < WANTED:
            self.arrive()
            return
        review = self.dice.choice(waiting)["id"]
        if self.dice.random() < 0.5:
            body = {"action": "approve", **get_seen(self.reviewer, review)}
            self.reviewer.post(f"/reviews/{review}/ruling", json=body)
        else:
            self.reviewer.post(f"/reviews/{review}/claim")

    def list_ruled_by(self, name: str) -> dict[str, str]:
        """The digests of what this person has ruled on, by review."""
        found = [self.reviewer.get(f"/reviews/{code}").json() for code in self.opened]
        return {
            review["id"]: review["content_digest"]
            for review in found
            if (review["ruling"] or {}).get("by") == name
        }


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    """Closed whatever becomes of the test."""
    with ExitStack() as stack:
        yield stack


def press_keys(page: Page, dice: random.Random) -> None:
    keys = "".join(dice.choices(KEYS, k=dice.randint(1, 6)))
    page.keyboard.type(keys, delay=dice.choice([0, 15, 60]))


def test_every_ruling_is_on_what_was_on_screen_whenever_the_server_dies(
    browser: Browser, clients: ExitStack, tmp_path: Path
) -> None:
    dice = random.Random(4_711)  # so that it can be repeated
    port = clients.enter_context(reserve_port())
    page: Page | None = None
    for restart in range(RESTARTS + 1):
        with up(tmp_path, port=port) as server:
            if page is None:
                script = ("shell", "--no-imports", "-c", CAST)
                made = manage(*script, CHECKRAIL_DATA=str(tmp_path))
                passwords, key, tokens = json.loads(made.stdout)
                others = Others(dice, clients, server.live)
                others.sign_in(key=key, token=tokens["bob"])
                for _ in range(WANTED):
                    others.arrive()
                desk = Desk(browser, server.live.url)
                clients.callback(desk.close)
                page = signed_in(desk, "alice", passwords["alice"])
                page.evaluate(RECORDER, 4_711)
            expect(page.locator("#conn")).to_have_attribute(
                "data-state", "live", timeout=BACK_MS
            )
            for _ in range(ROUNDS):
                press_keys(page, dice)
                if dice.random() < 0.6:
                    others.act()
                page.wait_for_timeout(dice.randint(0, 400))
            if restart == RESTARTS:
                # On a slow machine keys are dead for long: go on until one has ruled,
                # with something to rule on, and out of a note that a key has begun.
                while not others.list_ruled_by("alice"):
                    others.arrive()
                    page.keyboard.press("Escape")
                    press_keys(page, dice)
                    page.wait_for_timeout(1_000)
                page.wait_for_timeout(1_500)
                check(page, others)
            else:
                press_keys(page, dice)  # what is on its way now may be lost
                server.kill()
                for _ in range(ROUNDS_ALONE):
                    press_keys(page, dice)


def check(page: Page, others: Others) -> None:
    sent: list[dict[str, Any]] = page.evaluate("window.recorded.sent")
    for each in sent:
        shown = each["input"]
        names = ("code", "digest", "version")
        assert [each[name] for name in names] == [shown[name] for name in names], each
    by_code = {each["code"]: each["digest"] for each in sent}
    assert others.list_ruled_by("alice").items() <= by_code.items()
