"""What people and programs read when a page is not there, not theirs, or fails."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from django.http import HttpResponse, HttpResponseNotAllowed
from django.test import RequestFactory

from config import pages
from config.logging import BRIEF_LENGTH, Brief, OneLineFormatter
from tests.support.browsing import open_client
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges answers, not what is stored")


@each_row(
    ("status", "title", "words", "slug"),
    [
        (400, "Bad request", "cannot be read", "malformed"),
        (403, "Not allowed", "do not have permission", "forbidden"),
        (404, "Page not found", "The address is wrong", "not-found"),
        (500, "Something went wrong", "Nothing was changed", "internal"),
    ],
)
def test_a_page_for_people_and_a_problem_for_programs(
    database: None, status: int, title: str, words: str, slug: str
) -> None:
    views = {
        400: lambda request: pages.bad_request(request, Exception()),
        403: lambda request: pages.forbidden(request, Exception()),
        404: lambda request: pages.not_found(request, Exception()),
        500: pages.server_error,
    }
    page = views[status](RequestFactory().get("/p/x/"))
    assert page.status_code == status
    assert f"<h1>{title}</h1>" in page.content.decode()
    assert words in page.content.decode()
    answer = views[status](RequestFactory().get("/api/v1/x"))
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert (answer["Cache-Control"], answer["X-Content-Type-Options"]) == (
        *("no-store", "nosniff"),
    )
    assert json.loads(answer.content)["type"] == f"/problems/{slug}"


def test_a_wrong_verb_is_a_problem_on_the_api_alone() -> None:
    refused = HttpResponseNotAllowed(["GET", "POST"])
    request = RequestFactory().put("/api/v1/runs")
    answer = pages._answer_wrong_method(request, refused)
    assert json.loads(answer.content)["detail"] == "Use GET, POST."
    assert answer["Allow"] == "GET, POST"
    unsaid = pages._answer_wrong_method(request, HttpResponse(status=405))
    assert json.loads(unsaid.content)["detail"] == "Use another verb."
    # What is a problem already, and what is a page, stay as they are.
    assert pages._answer_wrong_method(request, answer) is answer
    for path, status in (("/sign-out/", 405), ("/api/v1/runs", 200)):
        other = HttpResponse(status=status)
        assert pages._answer_wrong_method(RequestFactory().put(path), other) is other


def test_a_problem_has_its_page_and_no_other(database: None) -> None:
    client = open_client()
    page = client.get("/problems/rate-limited")
    assert (page.status_code, "429" in page.content.decode()) == (200, True)
    assert client.get("/problems/nothing").status_code == 404


def make_record(message: str, *args: object) -> logging.LogRecord:
    try:
        raise LookupError("inside")
    except LookupError:
        return logging.LogRecord(
            *("x", logging.ERROR, __file__, 1, message, args, sys.exc_info())
        )


def test_nobody_writes_a_second_line_or_a_secret_into_the_log() -> None:
    secret = "ghp_" + "aB3dE6gH9jK2" * 3
    record = make_record("GET %s", f"/x\n2026 ERROR forged\x1b[2J {secret}")
    line = OneLineFormatter().format(record)
    assert line.isprintable()
    assert r"/x\n2026 ERROR forged" in line
    assert secret not in line
    assert "LookupError: inside" in line
    record.exc_info = record.exc_text = None
    record.msg, record.args = "a ü line", ()
    plain = OneLineFormatter().format(record)
    assert plain.endswith(" ERROR x a ü line")


def test_what_strangers_cause_is_one_short_warning() -> None:
    record = make_record("Invalid host %s", "h" * 500)
    assert Brief().filter(record) is True
    told = record.getMessage()
    assert (len(told), told[-1]) == (BRIEF_LENGTH + 1, "…")
    assert (record.levelno, record.levelname) == (logging.WARNING, "WARNING")
    assert (record.exc_info, record.exc_text, record.args) == (None, None, None)
    short = make_record("x" * BRIEF_LENGTH)
    Brief().filter(short)
    assert short.getMessage() == "x" * BRIEF_LENGTH
