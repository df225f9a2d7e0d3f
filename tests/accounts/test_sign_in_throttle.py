"""Guessing passwords is slowed down, and nobody is locked out by a stranger's guesses."""

from __future__ import annotations

import secrets
from functools import partial
from itertools import count
from threading import BoundedSemaphore
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.cache import cache, caches
from django.http import HttpResponse
from django.test import Client, RequestFactory
from redis.exceptions import ConnectionError as RedisGone

from accounts import throttle
from accounts.known_browsers import KNOWN_COOKIE, get_known_browser, remember_browser
from accounts.throttle import get_network
from tests.support.browsing import open_client
from tests.support.builders import Person
from tests.support.live import Live
from tests.support.processes import another_web_process
from tests.support.rows import each_row
from tests.support.threads import at_once

HOME = "203.0.113.7"
WRONG = "wrong"
# Processes that share the tests share one Redis, so they do not begin at one number.
_numbers = count(secrets.randbelow(2**31))


@pytest.fixture(autouse=True)
def _smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer attempts show the same."""
    monkeypatch.setattr(throttle, "NAME_LIMIT", 20)
    monkeypatch.setattr(throttle, "NETWORK_LIMIT", 25)


def elsewhere() -> str:
    """An address that no test has used."""
    number = next(_numbers)
    return f"2001:db8:{number >> 16:x}:{number & 0xFFFF:x}::1"


def attempt(
    name: str, password: str, *, address: str, browser: Client | None = None
) -> Any:
    form = {"username": name, "password": password}
    return (browser or open_client()).post("/sign-in/", form, REMOTE_ADDR=address)


def fail(name: str, times: int, *, address: str) -> None:
    for _ in range(times):
        assert attempt(name, WRONG, address=address).status_code == 200


def test_after_ten_failures_even_the_right_password_has_to_wait(
    bob: Person, alice: Person
) -> None:
    here, name = elsewhere(), bob.user.username
    fail(name, throttle.PAIR_LIMIT, address=here)

    held = attempt(name, bob.password, address=here)

    assert held.status_code == 429
    assert held["Retry-After"] == str(throttle.WINDOW_SECONDS)
    assert "Wait five minutes" in held.content.decode()
    assert f'value="{name}"' in held.content.decode()
    other = attempt(alice.user.username, alice.password, address=here)
    assert other.status_code == 302


def test_another_spelling_of_the_name_counts_as_the_name(bob: Person) -> None:
    """Django's form strips the name and applies NFKC before the password is compared."""
    here, name = elsewhere(), bob.user.username
    wide = "".join(chr(ord(sign) + 0xFEE0) for sign in name)
    fail(f"{name} ", throttle.PAIR_LIMIT - 1, address=here)
    fail(wide, 1, address=here)

    for spelling in ("{}", "{} ", " {}", "\u00a0{}", "{}\u3000", "{}\t", "\u2003{}\n"):
        written = spelling.format(name)
        assert attempt(written, bob.password, address=here).status_code == 429
    assert attempt(wide, bob.password, address=here).status_code == 429


def test_capitals_are_another_name_as_they_are_for_the_password_check(
    bob: Person,
) -> None:
    here = elsewhere()
    fail(bob.user.username.upper(), throttle.PAIR_LIMIT, address=here)
    answer = attempt(bob.user.username, bob.password, address=here)
    assert answer.status_code == 302


def test_a_stranger_elsewhere_cannot_lock_somebody_out(bob: Person) -> None:
    name, there = bob.user.username, elsewhere()
    fail(name, throttle.PAIR_LIMIT, address=there)
    for _ in range(10):
        assert attempt(name, WRONG, address=there).status_code == 429

    assert attempt(name, bob.password, address=HOME).status_code == 302


def test_guesses_from_many_addresses_meet_a_brake_for_new_browsers(
    bob: Person, alice: Person
) -> None:
    name = bob.user.username
    known = Client()
    assert attempt(name, bob.password, address=HOME, browser=known).status_code == 302
    known.post("/sign-out/")
    for _ in range(throttle.NAME_LIMIT):
        assert attempt(name, WRONG, address=elsewhere()).status_code == 200

    taken_turn = attempt(name, WRONG, address=elsewhere())
    braked = attempt(name, bob.password, address=elsewhere())

    assert (taken_turn.status_code, braked.status_code) == (200, 429)
    assert braked["Retry-After"] == str(throttle.TURN_SECONDS)
    assert "guessing" in braked.content.decode()
    # The person's own browser passes, wherever it is; other people are not concerned.
    let_in = attempt(name, bob.password, address=elsewhere(), browser=known)
    assert let_in.status_code == 302
    other = attempt(alice.user.username, alice.password, address=elsewhere())
    assert other.status_code == 302


def test_the_brake_lets_a_new_browser_through_when_its_turn_comes(bob: Person) -> None:
    name = bob.user.username
    for _ in range(throttle.NAME_LIMIT + 1):
        attempt(name, WRONG, address=elsewhere())
    assert attempt(name, bob.password, address=elsewhere()).status_code == 429
    cache.delete(throttle.get_turn_key(name))  # as it is after TURN_SECONDS

    assert attempt(name, bob.password, address=elsewhere()).status_code == 302


def test_waiting_for_a_turn_uses_up_nothing(bob: Person) -> None:
    name, here = bob.user.username, elsewhere()
    for _ in range(throttle.NAME_LIMIT + 1):
        attempt(name, WRONG, address=elsewhere())
    for _ in range(throttle.NETWORK_LIMIT + 1):
        held = attempt(name, bob.password, address=here)
        assert held["Retry-After"] == str(throttle.TURN_SECONDS)
    cache.delete(throttle.get_turn_key(name))

    assert attempt(name, bob.password, address=here).status_code == 302


def test_a_burst_passes_no_limit(bob: Person) -> None:
    """Attempts are counted before the password is looked at."""
    here, name = elsewhere(), bob.user.username
    guess = partial(attempt, name, WRONG, address=here)
    answers = at_once(*[guess] * (throttle.PAIR_LIMIT + 5))
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(200) == throttle.PAIR_LIMIT
    assert statuses.count(429) == 5


def test_a_known_browser_has_tries_of_its_own_and_no_more(bob: Person) -> None:
    name, known = bob.user.username, Client()
    attempt(name, bob.password, address=HOME, browser=known)
    known.post("/sign-out/")
    for _ in range(throttle.PAIR_LIMIT):
        answer = attempt(name, WRONG, address=elsewhere(), browser=known)
        assert answer.status_code == 200
    held = attempt(name, bob.password, address=elsewhere(), browser=known)
    assert held.status_code == 429


def test_a_browser_is_known_for_one_name_and_only_if_we_said_so(
    bob: Person, alice: Person
) -> None:
    known = Client()
    attempt(alice.user.username, alice.password, address=HOME, browser=known)
    known.post("/sign-out/")
    forged = Client()
    cookie = known.cookies[KNOWN_COOKIE].value
    forged.cookies[KNOWN_COOKIE] = f"{cookie[:-2]}xx"
    name = bob.user.username
    for _ in range(throttle.NAME_LIMIT + 1):
        attempt(name, WRONG, address=elsewhere())
    for browser in (known, forged):
        answer = attempt(name, bob.password, address=elsewhere(), browser=browser)
        assert answer.status_code == 429


def test_sign_ins_of_a_known_browser_leave_the_brake_for_strangers_alone(
    bob: Person,
) -> None:
    name, known = bob.user.username, Client()
    attempt(name, bob.password, address=HOME, browser=known)
    known.post("/sign-out/")
    for _ in range(throttle.NAME_LIMIT):
        attempt(name, WRONG, address=elsewhere())
    for _ in range(3):
        answer = attempt(name, bob.password, address=HOME, browser=known)
        assert answer.status_code == 302
        known.post("/sign-out/")

    attempt(name, WRONG, address=elsewhere())  # takes the turn
    assert attempt(name, WRONG, address=elsewhere()).status_code == 429


def test_a_busy_moment_of_a_known_browser_leaves_the_brake_alone(
    bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, known = bob.user.username, Client()
    attempt(name, bob.password, address=HOME, browser=known)
    known.post("/sign-out/")
    for _ in range(throttle.NAME_LIMIT):
        attempt(name, WRONG, address=elsewhere())
    with monkeypatch.context() as full:
        full.setattr(throttle, "SLOT_SECONDS", 0)
        full.setattr(throttle, "_slots", BoundedSemaphore(1))
        with throttle.take_hashing_slot():
            for _ in range(3):
                answer = attempt(name, bob.password, address=HOME, browser=known)
                assert answer.status_code == 503

    attempt(name, WRONG, address=elsewhere())
    assert attempt(name, WRONG, address=elsewhere()).status_code == 429


def test_a_name_with_a_sign_in_it_makes_no_cookie_for_another() -> None:
    for separator in "|:.":
        response = HttpResponse()
        remember_browser(response, f"x{separator}alice")
        nonce, _, signature = response.cookies[KNOWN_COOKIE].value.partition(".")
        request = RequestFactory().get("/sign-in/")
        request.COOKIES[KNOWN_COOKIE] = f"{nonce}{separator}x.{signature}"
        assert get_known_browser(request, "alice") is None


def test_the_cookie_of_a_known_browser_is_out_of_reach_of_scripts(bob: Person) -> None:
    answer = attempt(bob.user.username, bob.password, address=HOME)
    morsel = answer.cookies[KNOWN_COOKIE]
    assert morsel["httponly"]
    assert morsel["samesite"] == "Lax"
    assert bob.user.username not in morsel.value


def test_one_address_may_not_try_every_name(bob: Person) -> None:
    here = elsewhere()
    for number in range(throttle.NETWORK_LIMIT):
        assert attempt(f"nobody-{number}", WRONG, address=here).status_code == 200
    answer = attempt(bob.user.username, bob.password, address=here)
    assert answer.status_code == 429


def test_a_sign_in_takes_back_what_was_counted_for_it(bob: Person) -> None:
    here, name = elsewhere(), bob.user.username
    for _ in range(throttle.PAIR_LIMIT + 5):
        assert attempt(name, bob.password, address=here).status_code == 302
    fail(name, throttle.PAIR_LIMIT - 1, address=here)
    assert attempt(name, bob.password, address=here).status_code == 302
    fail(name, throttle.PAIR_LIMIT - 1, address=here)


@each_row(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("not-an-address", "unknown"),
    ],
)
def test_an_ipv6_network_counts_as_one_address(address: str, network: str) -> None:
    assert get_network(address) == network


def test_without_redis_each_process_still_counts(
    bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*args: Any, **kwargs: Any) -> None:
        raise RedisGone("no such server")

    for method in ("add", "incr", "decr", "delete"):
        monkeypatch.setattr(caches["default"], method, gone)
    here, name = elsewhere(), bob.user.username
    fail(name, throttle.PAIR_LIMIT, address=here)
    assert attempt(name, bob.password, address=here).status_code == 429


def sign_in(live: Live, name: str, password: str, **headers: str) -> httpx.Response:
    with httpx.Client(base_url=live.url) as browser:
        browser.get("/sign-in/")
        token = browser.cookies["checkrail_csrf"]
        form = {"username": name, "password": password, "csrfmiddlewaretoken": token}
        return browser.post(
            "/sign-in/", data=form, headers={"Origin": live.url, **headers}
        )


def test_a_forwarded_address_is_not_believed_from_just_anybody(
    live: Live, bob: Person
) -> None:
    name = bob.user.username
    for number in range(throttle.PAIR_LIMIT):
        forwarded = {"X-Forwarded-For": f"198.51.100.{number}"}
        assert sign_in(live, name, WRONG, **forwarded).status_code == 200
    forwarded = {"X-Forwarded-For": "198.51.100.99"}
    assert sign_in(live, name, bob.password, **forwarded).status_code == 429


@pytest.mark.skipif(settings.EMBEDDED, reason="There is only one process.")
def test_processes_count_together(live: Live, bob: Person) -> None:
    name = bob.user.username
    with another_web_process() as other:
        for server in (live, other.live) * (throttle.PAIR_LIMIT // 2):
            assert sign_in(server, name, WRONG).status_code == 200
        for server in (live, other.live):
            assert sign_in(server, name, bob.password).status_code == 429


def test_one_who_has_to_wait_does_not_use_up_the_attempts_of_an_office(
    bob: Person, alice: Person
) -> None:
    here, name = elsewhere(), bob.user.username
    fail(name, throttle.PAIR_LIMIT, address=here)
    for _ in range(throttle.NETWORK_LIMIT):
        assert attempt(name, WRONG, address=here).status_code == 429

    other = attempt(alice.user.username, alice.password, address=here)
    assert other.status_code == 302
