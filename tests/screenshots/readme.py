"""The two pictures of the README: the queue in light and dark, with a review open."""

from __future__ import annotations

from playwright.sync_api import Browser, ViewportSize, expect

from tests.screenshots.server import ROOT, run_browser, run_server, sign_in

FOLDER = ROOT / "docs" / "images"
SIZE: ViewportSize = {"width": 1440, "height": 960}


def take_readme_pictures(browser: Browser, url: str, password: str) -> None:
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


if __name__ == "__main__":
    with run_server() as (url, password), run_browser() as browser:
        take_readme_pictures(browser, url, password)
