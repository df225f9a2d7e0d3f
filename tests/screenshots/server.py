"""A server of its own for the pictures, and a browser that is signed in to it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.runner.chromium import BROWSERS

ROOT = Path(__file__).resolve().parents[2]
DEMO_PROJECT = "demo"
PASSWORD = "a picture is worth a thousand steps"


@contextmanager
def run_server(*arguments: str) -> Iterator[tuple[str, str]]:
    """A running server with an empty folder: its URL and the one-time password."""
    with tempfile.TemporaryDirectory(prefix="checkrail-screenshots-") as folder:
        command = [sys.executable, "manage.py", "up", "--port", "0", "--data", folder]
        with subprocess.Popen(
            [*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
        ) as server:
            assert server.stdout is not None
            said = ""
            while "Stop with" not in said:
                line = server.stdout.readline()
                if not line:
                    sys.exit(f"screenshots: the server did not start.\n{said}")
                said += line
            url = re.search(r"ready: (\S+)", said)
            password = re.search(r"password (\S+)", said)
            assert url is not None
            assert password is not None
            try:
                yield url[1], password[1]
            finally:
                server.terminate()
                server.communicate()


@contextmanager
def run_browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def sign_in(page: Page, url: str, password: str) -> None:
    """As the first admin does it: with the one-time password, then a new one."""
    page.goto(url)
    page.fill("input[name=username]", "admin")
    page.fill("input[name=password]", password)
    page.keyboard.press("Enter")
    for field in ("new_password1", "new_password2"):
        page.fill(f"input[name={field}]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/**")
    # The first visit explains itself; it would stand before every page.
    with page.expect_response("**/introduction/**"):
        page.get_by_role("button", name="Start").click()
