"""Take pictures of every page in five looks: python -m tests.screenshots FOLDER."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import httpx
from playwright.sync_api import Browser, BrowserContext, Page

from tests.screenshots.camera import take_pictures
from tests.screenshots.pages import EMPTY, PROJECT, PUBLIC, Shot
from tests.screenshots.scenes import build_scene, list_reviews, make_token
from tests.screenshots.server import DEMO_PROJECT, run_browser, run_server, sign_in


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.screenshots", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="pages whose name begins like this")
    given = parser.parse_args()
    with run_browser() as browser:
        problems = [
            *_take_demo(browser, given.folder, given.only),
            *_take_empty(browser, given.folder, given.only),
        ]
    for problem in problems:
        print(f"screenshots: {problem}")
    sys.exit(1 if problems else 0)


def _take_demo(browser: Browser, folder: Path, only: str) -> Iterator[str]:
    if only.startswith("empty"):
        return
    with run_server() as (url, password):
        page = _open_browser(browser, url).new_page()
        sign_in(page, url, password)
        token = make_token(page, DEMO_PROJECT)
        with httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        ) as api:
            values = build_scene(page, api)
            kinds = list_reviews(api)
        reviews = [Shot(f"review-{kind}", f"queue/{it}/") for kind, it in kinds.items()]
        wanted = _choose([*reviews, *PROJECT], only)
        yield from _take(page, wanted, values, folder, DEMO_PROJECT)
        stranger = _open_browser(browser, url).new_page()
        yield from _take(stranger, _choose(PUBLIC, only), values, folder)


def _take_empty(browser: Browser, folder: Path, only: str) -> Iterator[str]:
    wanted = _choose(EMPTY, only)
    if wanted:
        with run_server("--no-demo") as (url, password):
            page = _open_browser(browser, url).new_page()
            sign_in(page, url, password)
            yield from _take(page, wanted, {}, folder, "main")


def _open_browser(browser: Browser, url: str) -> BrowserContext:
    return browser.new_context(base_url=url, reduced_motion="reduce")


def _choose(shots: Iterable[Shot], only: str) -> list[Shot]:
    return [shot for shot in shots if shot.name.startswith(only)]


def _take(
    page: Page,
    shots: Iterable[Shot],
    values: Mapping[str, str],
    folder: Path,
    project: str = "",
) -> Iterator[str]:
    for shot in shots:
        path = shot.path.format(**values)
        whole = path if path.startswith(("/", "http")) else f"/p/{project}/{path}"
        answer = page.goto(whole)
        if answer is None or answer.status != shot.status:
            yield f"{shot.name}: answers {answer and answer.status} at {whole}"
            continue
        if shot.prepare is not None:
            shot.prepare(page)
        yield from take_pictures(page, shot.name.replace("/", "-"), folder=folder)
        print(shot.name, flush=True)


if __name__ == "__main__":
    main()
