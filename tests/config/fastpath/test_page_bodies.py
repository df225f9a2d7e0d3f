"""Outside /api/, too, nobody sends more than a form needs, and strangers even less."""

from __future__ import annotations

import httpx
import pytest
from django.conf import settings
from django.test import Client as DjangoClient

from config.fastpath.bodies import STRANGER_LIMIT
from tests.support.builders import Person
from tests.support.live import Live

pytestmark = pytest.mark.once("reads bodies, not SQL")

LIMIT = 1_048_576
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}


def session(person: Person) -> dict[str, str]:
    browser = DjangoClient()
    browser.force_login(person.user)
    name = settings.SESSION_COOKIE_NAME
    return {"Cookie": f"{name}={browser.cookies[name].value}"}


def post(live: Live, path: str, size: int, headers: dict[str, str]) -> int:
    """The status for a body of this size, said beforehand and found out alike."""
    whole = httpx.post(live.url + path, content=b"x" * size, headers=headers)
    pieces = (b"x" * (size // 4) for _ in range(4))
    piecewise = httpx.post(live.url + path, content=pieces, headers=headers)
    assert whole.status_code == piecewise.status_code
    if whole.status_code == 413:
        assert whole.headers["connection"] == "close"
    return whole.status_code


def test_a_stranger_sends_no_more_than_a_sign_in_takes(live: Live) -> None:
    made_up = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={'x' * 32}"}
    for cookie in ({}, made_up):
        for path, kind in (("/sign-in/", FORM), ("/api/v1/runs", JSON)):
            headers = {**kind, **cookie}
            over = post(live, path, STRANGER_LIMIT + 4, headers)
            assert over == (401 if path.startswith("/api/") and not cookie else 413)
            assert post(live, path, STRANGER_LIMIT, headers) not in {408, 413}


def test_a_person_may_send_a_long_form_and_no_huge_one(live: Live, bob: Person) -> None:
    for path, kind in (("/sign-in/", FORM), ("/api/v1/runs", JSON)):
        headers = {**kind, **session(bob)}
        assert post(live, path, 10 * STRANGER_LIMIT, headers) != 413
        assert post(live, path, LIMIT + 4, headers) == 413
