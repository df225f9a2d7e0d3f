"""Guessing passwords is slowed down, by name; others are not held up."""

from __future__ import annotations

import httpx

from accounts import throttle
from tests.builders import Person
from tests.live import Live


def attempt(live: Live, name: str, password: str) -> httpx.Response:
    with httpx.Client(base_url=live.url) as browser:
        browser.get("/sign-in/")
        token = browser.cookies["checkrail_csrf"]
        form = {"username": name, "password": password, "csrfmiddlewaretoken": token}
        return browser.post("/sign-in/", data=form, headers={"Origin": live.url})


def test_after_ten_failures_even_the_right_password_has_to_wait(
    live: Live, bob: Person, alice: Person
) -> None:
    name = bob.user.username
    for _ in range(throttle.FAILURES["name"]):
        assert attempt(live, name, "wrong").status_code == 200
    held = attempt(live, name, bob.password)
    assert held.status_code == 429
    assert held.headers["Retry-After"] == str(throttle.WINDOW_SECONDS)
    assert "Wait five minutes" in held.text
    assert attempt(live, alice.user.username, alice.password).status_code == 302
