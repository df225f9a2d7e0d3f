"""The server is killed and comes back: open pages catch up by themselves."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Desk
from tests.builders import pause_run, start_run

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


@dataclass
class Server:
    """`manage.py up` in a process of its own, which may be killed."""

    data: Path
    port: int
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "CHECKRAIL_DATA": str(self.data)}
        for name in ("DATABASE_URL", "REDIS_URL"):
            environment.pop(name, None)
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=settings.ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def told(self, *arguments: str) -> dict[str, str]:
        """The one line of JSON that a command prints."""
        answer, _ = self.command(*arguments, "--json").communicate(timeout=60)
        told: dict[str, str] = json.loads(answer)
        return told

    def start(self) -> None:
        port = str(self.port)
        self.process = self.command(
            "up", "--no-demo", "--port", port, "--data", str(self.data)
        )
        assert self.process.stdout is not None
        lines = iter(self.process.stdout.readline, "")
        assert any(line.startswith("Checkrail is ready") for line in lines)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(data=tmp_path, port=port)
    server.start()
    yield server
    server.kill()


def signed_in(desk: Desk, person: dict[str, str]) -> Page:
    page = desk.open("/sign-in/")
    page.get_by_label("Name").fill(person["user"])
    page.get_by_label("Password").fill(person["password"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    return page


def test_both_browsers_catch_up_after_a_kill(browser: Browser, server: Server) -> None:
    role = ("--role", "reviewer", "--project", "main")
    people = [server.told("user_add", name, *role) for name in ("alice", "bob")]
    key = server.told("agent_key", "robo", "--project", "main")["key"]
    desk = Desk(browser, server.url)
    pages = [signed_in(desk, person) for person in people]
    agent = httpx.Client(
        base_url=f"{server.url}/api/v1", headers={"Authorization": f"Bearer {key}"}
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
    server.start()
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
    agent.close()
