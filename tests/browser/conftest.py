"""Real browsers on the live server: signed in, watched, closed after the test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    WebSocketRoute,
    expect,
    sync_playwright,
)

from tests.browser.driver import BROWSER, run_with_living_driver
from tests.browser.driving.patience import wait_before_acting
from tests.browser.sessions import session_cookie
from tests.runner.chromium import BROWSERS
from tests.support.builders import Person
from tests.support.live import Live

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> bool | None:
    # In a process of many tests pytest asks this of every test, wherever it lies.
    if not item.path.is_relative_to(Path(__file__).parent):
        return None
    return run_with_living_driver(item, nextitem)


@pytest.fixture(scope="package")
def browser(live: Live, pytestconfig: pytest.Config) -> Iterator[Browser]:
    """One Chromium, closed behind the last browser test.

    Not the plug-in's session-wide one: its event loop would seem to be running in
    every test after the first browser test, and Django and asyncio refuse that.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)))
    expect.set_options(timeout=30_000)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        wait_before_acting(patch)
        chromium = playwright.chromium.launch(
            executable_path=found, args=list(ARGUMENTS)
        )
        pytestconfig.stash[BROWSER] = chromium
        yield chromium
        with suppress(Error):  # Its driver may have died; a new one is started then.
            chromium.close()
        # Django keeps connections per event loop: those of this one end with it.
        connections.close_all()


@dataclass
class Desk:
    """Opens pages for people and keeps what their browsers complain about."""

    browser: Browser
    url: str
    spare: list[Page] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    _usual: list[Page] = field(default_factory=list)
    _odd: list[Page] = field(default_factory=list)

    def open(
        self,
        path: str,
        *,
        person: Person | None = None,
        size: tuple[int, int] = (1440, 960),
        sockets: bool = True,
        scripts: bool = True,
    ) -> Page:
        """A page of its own browser profile; without a person, not signed in."""
        usual = sockets and scripts
        page = self.spare.pop() if usual and self.spare else self._made(scripts=scripts)
        (self._usual if usual else self._odd).append(page)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        if person is not None:
            page.context.add_cookies(
                [
                    {
                        "name": settings.SESSION_COOKIE_NAME,
                        "value": session_cookie(person.user),
                        "url": self.url,
                    }
                ]
            )
        if not sockets:
            # It opens, and nothing ever arrives: a browser that is cut off.
            page.context.route_web_socket("**/ws/**", _silent)
        page.on("console", self._hear)
        page.on("pageerror", self._fail)
        page.goto(path)
        return page

    def _made(self, *, scripts: bool) -> Page:
        context = self.browser.new_context(
            base_url=self.url,
            color_scheme="light",
            reduced_motion="reduce",
            java_script_enabled=scripts,
        )
        return context.new_page()

    def close(self) -> None:
        """Every profile is emptied for the next desk: making one costs more than that."""
        for page in self._odd:
            page.context.close()
        for page in self._usual:
            page.remove_listener("console", self._hear)
            page.remove_listener("pageerror", self._fail)
            page.unroute_all(behavior="ignoreErrors")
            page.emulate_media(media="screen", color_scheme="light")
            page.context.clear_cookies()
            try:
                page.goto("/healthz")
                page.evaluate("localStorage.clear(); sessionStorage.clear()")
            except Error:
                # Still on its way somewhere else: that profile is not used again.
                page.context.close()
            else:
                self.spare.append(page)

    def _hear(self, message: ConsoleMessage) -> None:
        # A refusal on purpose (409 and its like) is reported as a failed resource, and a
        # request that was given up for a newer one as an error of htmx: in other words
        # where its answer had begun to come.
        given_up = ("signal is aborted", "The user aborted a request")
        expected = ("status of 4", *(f"htmx:error: {words}" for words in given_up))
        if message.type == "error" and not any(e in message.text for e in expected):
            self.complaints.append(message.text)

    def _fail(self, error: Error) -> None:
        self.complaints.append(str(error))


def _silent(_socket: WebSocketRoute) -> None:
    return None


@pytest.fixture(scope="package")
def spare(browser: Browser) -> list[Page]:
    """Profiles that a desk has emptied."""
    return []


@pytest.fixture
def desk(browser: Browser, live: Live, spare: list[Page]) -> Iterator[Desk]:
    """After every test: no error, no content policy report in any console."""
    opened = Desk(browser, live.url, spare)
    yield opened
    opened.close()
    assert opened.complaints == []


@pytest.fixture
def queue_of(desk: Desk) -> Callable[..., Page]:
    """The queue of a person's project, once it is live."""

    def open_queue(person: Person, slug: str, path: str = "", **more: Any) -> Page:
        page = desk.open(f"/p/{slug}/queue/{path}", person=person, **more)
        expect(page.locator("#conn")).to_have_attribute("data-state", "live")
        return page

    return open_queue
