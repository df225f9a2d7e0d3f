"""The server's own pages about its API, and its error pages."""

from __future__ import annotations

import re

import httpx
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext

from config.api import api
from config.pages import PROBLEM_TYPES
from tests.support.live import Live
from tests.support.rows import each_row


def page(live: Live, path: str) -> httpx.Response:
    return httpx.get(f"{live.url}{path}", timeout=30)


def test_the_api_page_shows_every_operation(live: Live) -> None:
    answer = page(live, "/api/v1/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    for path, methods in api.get_openapi_schema()["paths"].items():
        for operation in methods.values():
            assert f'id="{operation["operationId"]}"' in answer.text
            assert f'href="#{operation["operationId"]}"' in answer.text
        assert path.replace("{", "{") in answer.text


def test_the_api_page_shows_what_can_be_sent_answered_and_refused(live: Live) -> None:
    text = page(live, "/api/v1/docs").text
    _, _, rest = text.partition('id="judge_tool_call"')
    card, _, _ = rest.partition("</article>")

    assert 'href="#type-CommandCallIn"' in card
    assert "Idempotency-Key (header)" in card
    assert "&quot;command&quot;: &quot;rm -rf build&quot;" in card
    assert "201 Created" in card
    assert "Idempotency-Replayed" in card
    assert 'href="/problems/run-paused"' in card
    assert "An agent&#x27;s key (crk_…)." in card
    assert 'id="type-Problem"' in text


def test_the_api_page_needs_nothing_from_outside(live: Live) -> None:
    text = page(live, "/api/v1/docs").text
    linked = re.findall(r'(?:src|href)="([^"#]+)', text)
    assert linked
    assert all(address.startswith("/") for address in linked)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style| style=| on\w+=", text)


@each_row("slug", sorted(PROBLEM_TYPES))
def test_every_problem_has_a_page_that_names_it(live: Live, slug: str) -> None:
    answer = page(live, f"/problems/{slug}")
    assert answer.status_code == 200
    assert PROBLEM_TYPES[slug].title in answer.text.replace("&#x27;", "'")


def test_an_unknown_address_gets_a_friendly_page(live: Live) -> None:
    answer = page(live, "/nowhere/")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1>" in answer.text


def test_the_error_page_needs_no_user_and_no_database(database: None) -> None:
    context = {"title": "Something broke", "text": "See the log."}
    with CaptureQueriesContext(connection) as queries:
        text = render_to_string("config/error.html", context)
    assert "Something broke" in text
    assert len(queries) == 0
