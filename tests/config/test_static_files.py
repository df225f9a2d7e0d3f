"""What browsers get: vendored files as they were published, nothing from outside."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from tests.support.live import Live
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges requests and answers, not what is stored")

STATIC = settings.ROOT / "static"
TEMPLATES = settings.ROOT / "templates"
SUMS = {
    name: checksum
    for line in (STATIC / "vendored.sha256").read_text().splitlines()
    for checksum, name in [line.split()]
}


def files(folder: Path, *endings: str) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in endings)


@pytest.mark.parametrize("name", sorted(SUMS))
def test_a_vendored_file_is_as_it_was_published(name: str) -> None:
    assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == SUMS[name]


def test_every_vendored_file_has_a_sum_and_a_licence() -> None:
    vendored = [
        *files(STATIC / "vendor", ".js", ".css"),
        *files(STATIC / "fonts", ".woff2"),
    ]
    assert {str(path.relative_to(STATIC)) for path in vendored} == set(SUMS)
    assert all(list(path.parent.glob("*LICENSE")) for path in vendored)


@each_row("path", files(TEMPLATES, ".html"), ids=lambda path: path.name)
def test_a_template_keeps_to_the_content_policy(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r'\sstyle="|<style|\son[a-z]+="|hx-on|javascript:', text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert not re.search(r"\|safe\b|\{%\s*autoescape off", text)
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)


@each_row(
    "path",
    [*files(STATIC / "css", ".css"), *files(STATIC / "js", ".js")],
    ids=lambda path: path.name,
)
def test_our_own_files_fetch_nothing_from_outside(path: Path) -> None:
    assert not re.search(r"https?://|@import|\beval\(|innerHTML", path.read_text())


def test_every_icon_that_is_used_is_drawn() -> None:
    drawn = set(re.findall(r'id="i-([a-z]+)"', (TEMPLATES / "icons.html").read_text()))
    pages = "".join(path.read_text() for path in files(TEMPLATES, ".html"))
    used = set(re.findall(r'(?:href="#i-|\{% icon ")([a-z]+)"', pages))
    code = "".join(
        path.read_text()
        for app in ("console", "ledger", "loop", "reviews")
        for path in sorted((settings.ROOT / app).rglob("*.py"))
    )
    assert used <= drawn
    assert {name for name in drawn - used if f'"{name}"' not in code} == set()


def test_static_files_are_served_and_revalidated(live: Live) -> None:
    address = f"{live.url}/static/css/tokens.css"
    first = httpx.get(address)
    assert first.status_code == 200
    assert first.headers["content-type"].startswith("text/css")
    again = httpx.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert httpx.get(f"{live.url}/static/../config/settings.py").status_code == 404
