"""Pages and long reads are compressed; secrets, short answers and agents' waits are not."""

from __future__ import annotations

import gzip
import re

import httpx
import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory

from accounts.models import Project
from config.server.compression import LONGEST_IN_LOOP, compress_answers
from config.server.encodings import accepts_gzip
from tests.browser.sessions import session_cookie
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run
from tests.support.live import Live
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges requests and answers, not what is stored")

GZIP = {"Accept-Encoding": "gzip"}
PLAIN = {"Accept-Encoding": "identity"}
LONG = b"<p>word</p>" * 10_000


def read_page(live: Live, person: Person, path: str, **headers: str) -> httpx.Response:
    cookies = {settings.SESSION_COOKIE_NAME: session_cookie(person.user)}
    url = f"{live.url}{path}"
    return httpx.get(url, headers=headers, cookies=cookies, timeout=30)


def answer(
    response: HttpResponseBase, *, method: str = "GET", path: str = "/p/x/queue/"
) -> HttpResponseBase:
    """What the middleware of an async server makes of it."""

    async def get_response(_request: object) -> HttpResponseBase:
        return response

    request = RequestFactory().generic(method, path, headers=GZIP)
    answered: HttpResponseBase = async_to_sync(compress_answers(get_response))(request)
    return answered


@each_row(
    ("header", "taken"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("br", False),
        ("identity", False),
        ("", False),
    ],
)
def test_only_who_takes_gzip_gets_it(header: str, taken: bool) -> None:
    assert accepts_gzip(header) is taken


def test_a_page_is_compressed_for_whoever_takes_it(
    live: Live, project: Project, alice: Person
) -> None:
    path = f"/p/{project.slug}/queue/"
    small = read_page(live, alice, path, **GZIP)
    large = read_page(live, alice, path, **PLAIN)
    assert small.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in large.headers
    assert int(small.headers["content-length"]) < len(large.content) / 3
    for page in (small, large):
        assert "Accept-Encoding" in page.headers["vary"]
        assert page.text.startswith("<!doctype html>")


def test_the_head_alone_is_that_of_the_page(live: Live) -> None:
    page = httpx.head(f"{live.url}/sign-in/", headers=GZIP)
    assert (page.status_code, page.content) == (200, b"")
    assert page.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in page.headers["vary"]


def test_the_token_against_forgery_is_another_in_every_page(
    live: Live, project: Project, alice: Person
) -> None:
    """So that the size of a compressed page tells nothing of it."""
    found = {
        re.findall(r'"X-CSRFToken": "(\w+)"', page.text)[0]
        for page in (
            read_page(live, alice, f"/p/{project.slug}/queue/", **GZIP)
            for _ in range(3)
        )
    }
    assert len(found) == 3


def test_the_size_of_the_same_page_differs_by_chance() -> None:
    sizes = {
        len(answer(HttpResponse(LONG)).content)  # type: ignore[attr-defined]
        for _ in range(30)
    }
    assert len(sizes) > 1


def test_a_sync_server_compresses_the_same(project: Project, alice: Person) -> None:
    page = open_browser(alice.user).get(f"/p/{project.slug}/queue/", headers=GZIP)
    assert page.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(page.content).startswith(b"<!doctype html>")


@pytest.mark.parametrize("size", [LONGEST_IN_LOOP - 100, LONGEST_IN_LOOP + 100])
def test_short_and_long_bodies_are_whole(size: int) -> None:
    body = (LONG * 2)[:size]
    page = answer(HttpResponse(body))
    assert isinstance(page, HttpResponse)
    assert page.headers["Content-Length"] == str(len(page.content))
    assert gzip.decompress(page.content) == body


def test_a_long_read_of_the_api_is_compressed_a_short_one_is_not(
    live: Live, agent: httpx.Client
) -> None:
    document = httpx.get(f"{live.api}/openapi.json", headers=GZIP)
    assert document.headers["content-encoding"] == "gzip"
    assert document.json()["openapi"]
    run = agent.get(f"/runs/{start_run(agent)}", headers=GZIP)
    assert run.status_code == 200
    assert "content-encoding" not in run.headers


@each_row(
    ("method", "path", "response"),
    [
        ("POST", "/p/x/settings/you/tokens/", HttpResponse(LONG)),
        ("GET", "/p/x/queue/", HttpResponse(b"short")),
        ("GET", "/p/x/queue/", StreamingHttpResponse([LONG])),
        ("GET", "/p/x/runs.csv", HttpResponse(LONG, content_type="text/csv")),
        (
            "GET",
            "/p/x/webhooks/",
            HttpResponse(LONG, headers={"Cache-Control": "no-transform"}),
        ),
        (
            "GET",
            "/p/x/queue/",
            HttpResponse(LONG, headers={"Content-Encoding": "br"}),
        ),
        (
            "GET",
            "/api/v1/runs/00000000-0000-7000-8000-000000000000/decision",
            HttpResponse(LONG, content_type="application/json"),
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_everything_else_stays_as_it_is(
    method: str, path: str, response: HttpResponseBase
) -> None:
    before = response.headers.get("Content-Encoding")
    assert answer(response, method=method, path=path) is response
    assert response.headers.get("Content-Encoding") == before
    assert "Content-Length" not in response.headers


def test_pages_behind_a_secret_link_are_not_compressed(live: Live) -> None:
    code = "00000000-0000-7000-8000-000000000000"
    for path in ("/join/no-such-link/", f"/password/{code}/none/"):
        page = httpx.get(f"{live.url}{path}", headers=GZIP)
        assert "no-transform" in page.headers["cache-control"], path
        assert "content-encoding" not in page.headers
