"""Sign-in at its edges: windows that end meanwhile, busy moments, and what a cookie says."""

from __future__ import annotations

from datetime import timedelta
from threading import BoundedSemaphore
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core import signing
from django.core.cache import caches
from django.test import RequestFactory
from django.utils import timezone

from accounts import throttle
from accounts.known_browsers import KNOWN_COOKIE, KNOWN_SECONDS, get_known_browser
from tests.accounts.test_sign_in_throttle import (
    HOME,
    WRONG,
    attempt,
    elsewhere,
    fail,
)
from tests.support.browsing import open_client
from tests.support.builders import Person

pytestmark = pytest.mark.once("forms and pages, not SQL")

in_one_process = pytest.mark.skipif(
    not settings.EMBEDDED, reason="The clock of Redis is its own."
)


def test_the_limits_are_those_that_were_decided() -> None:
    """ADR 0018, and the words that people read."""
    assert (throttle.PAIR_LIMIT, throttle.WINDOW_SECONDS) == (10, 300)
    assert (throttle.NETWORK_LIMIT, throttle.NAME_LIMIT) == (100, 50)
    assert throttle.TURN_SECONDS == 10
    assert timedelta(seconds=KNOWN_SECONDS) == timedelta(days=180)


@in_one_process
def test_attempts_are_forgotten_after_five_minutes(bob: Person) -> None:
    here, name = elsewhere(), bob.user.username
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        fail(name, throttle.PAIR_LIMIT, address=here)
    for seconds, status in ((298, 429), (302, 302)):
        with time_machine.travel(now + timedelta(seconds=seconds), tick=False):
            assert attempt(name, bob.password, address=here).status_code == status


@in_one_process
def test_a_turn_takes_ten_seconds(bob: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "NAME_LIMIT", 3)
    name, now = bob.user.username, timezone.now()
    with time_machine.travel(now, tick=False):
        for _ in range(3):
            assert attempt(name, WRONG, address=elsewhere()).status_code == 200
        # The fourth is the first that takes a turn, and the fifth has to wait for one.
        statuses = [
            attempt(name, WRONG, address=elsewhere()).status_code for _ in range(2)
        ]
    assert statuses == [200, 429]
    for seconds, status in ((9, 429), (11, 302)):
        with time_machine.travel(now + timedelta(seconds=seconds), tick=False):
            answer = attempt(name, bob.password, address=elsewhere())
            assert answer.status_code == status


def test_a_window_that_ends_meanwhile_keeps_nobody_out(
    bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, here = bob.user.username, elsewhere()

    def ended(*_given: Any, **_named: Any) -> int:
        raise ValueError("Key not found")

    for method in ("incr", "decr"):
        with monkeypatch.context() as patch:
            patch.setattr(caches["default"], method, ended)
            assert attempt(name, bob.password, address=here).status_code == 302
    # What was counted when it began anew counts like any other.
    other = elsewhere()
    with monkeypatch.context() as patch:
        patch.setattr(caches["default"], "incr", ended)
        fail(name, 1, address=other)
    fail(name, throttle.PAIR_LIMIT - 1, address=other)
    assert attempt(name, bob.password, address=other).status_code == 429


def test_a_busy_moment_uses_up_nobodys_attempts(
    bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, here = bob.user.username, elsewhere()
    monkeypatch.setattr(throttle, "NAME_LIMIT", 5)
    with monkeypatch.context() as full:
        full.setattr(throttle, "SLOT_SECONDS", 0)
        full.setattr(throttle, "_slots", BoundedSemaphore(1))
        with throttle.take_hashing_slot():
            for _ in range(throttle.PAIR_LIMIT + 1):
                busy = attempt(name, bob.password, address=here)
                assert (busy.status_code, busy["Retry-After"]) == (503, "2")
    page = busy.content.decode()
    assert "Too many people sign in at once" in page
    assert f'value="{name}"' in page
    assert bob.password not in page
    assert attempt(name, bob.password, address=here).status_code == 302


def test_two_hashes_are_computed_at_once_and_a_slot_comes_back_after_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(throttle, "SLOT_SECONDS", 0)
    for _ in range(3):
        with pytest.raises(LookupError), throttle.take_hashing_slot():
            raise LookupError
    with (
        throttle.take_hashing_slot(),
        throttle.take_hashing_slot(),
        pytest.raises(throttle.TooBusy),
        throttle.take_hashing_slot(),
    ):
        pass
    with throttle.take_hashing_slot():
        pass


def test_a_browser_stays_known_for_half_a_year_and_by_our_signature_alone(
    bob: Person,
) -> None:
    name = bob.user.username
    browser = open_client()
    answer = attempt(name, bob.password, address=HOME, browser=browser)
    morsel = answer.cookies[KNOWN_COOKIE]
    assert (morsel["max-age"], morsel["path"]) == (KNOWN_SECONDS, "/")

    def is_known(cookie: str, whom: str = name) -> bool:
        request = RequestFactory().get("/sign-in/")
        request.COOKIES[KNOWN_COOKIE] = cookie
        return get_known_browser(request, whom) is not None

    nonce, _, signature = morsel.value.partition(".")
    assert is_known(morsel.value)
    assert not is_known(morsel.value, name.upper())
    # What the same server has signed for another purpose.
    elsewhere_signed = signing.Signer().signature(f"{len(nonce)}:{nonce}:{name}")
    empty = signing.Signer(salt="accounts.known-browser").signature(f"0::{name}")
    for cookie in (
        *("", nonce, f".{signature}", f"{nonce}.", f"{nonce}x.{signature}"),
        *(f"{nonce}.{elsewhere_signed}", f".{empty}"),
    ):
        assert not is_known(cookie), cookie
    # Each sign-in makes another: what two browsers do is told apart.
    again = attempt(name, bob.password, address=HOME)
    assert again.cookies[KNOWN_COOKIE].value != morsel.value


def test_who_fails_is_not_remembered(bob: Person) -> None:
    answer = attempt(bob.user.username, WRONG, address=elsewhere())
    assert answer.status_code == 200
    assert KNOWN_COOKIE not in answer.cookies
