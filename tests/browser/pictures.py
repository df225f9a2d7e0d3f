"""The pictures of the README, taken from a demo that this command starts itself.

python -m tests.browser.pictures
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from tests.runner.chromium import BROWSERS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "images"
SIZE: ViewportSize = {"width": 1440, "height": 960}
PASSWORD = "a picture is worth a thousand steps"


@contextmanager
def demo() -> Iterator[tuple[str, str]]:
    """A running demo: its URL and the one-time password."""
    with tempfile.TemporaryDirectory(prefix="checkrail-pictures-") as folder:
        command = [sys.executable, "manage.py", "up", "--port", "0", "--data", folder]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
        ) as server:
            assert server.stdout is not None
            said = ""
            while "Stop with" not in said:
                said += server.stdout.readline()
            url = re.search(r"ready: (\S+)", said)
            password = re.search(r"password (\S+)", said)
            assert url is not None
            assert password is not None
            try:
                yield url[1], password[1]
            finally:
                server.terminate()
                server.communicate()


def sign_in(page: Page, url: str, password: str) -> None:
    page.goto(url)
    page.fill("input[name=username]", "admin")
    page.fill("input[name=password]", password)
    page.keyboard.press("Enter")
    for field in ("new_password1", "new_password2"):
        page.fill(f"input[name={field}]", PASSWORD)
    page.keyboard.press("Enter")


def main() -> None:
    found = next(filter(None, map(shutil.which, BROWSERS)))
    with demo() as (url, password), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        light = browser.new_context(viewport=SIZE, color_scheme="light")
        page = light.new_page()
        sign_in(page, url, password)
        rows = page.locator("#queue li a")
        expect(rows).to_have_count(7, timeout=120_000)
        rows.filter(has_text="Rework").first.click()
        expect(page.locator("#detail h1")).to_contain_text("Rework")
        page.screenshot(path=FOLDER / "queue-light.png")
        dark = browser.new_context(
            viewport=SIZE, color_scheme="dark", storage_state=light.storage_state()
        )
        page, address = dark.new_page(), page.url
        page.goto(address)
        expect(page.locator("#detail h1")).to_contain_text("Rework")
        page.screenshot(path=FOLDER / "queue-dark.png")
        browser.close()


if __name__ == "__main__":
    main()
