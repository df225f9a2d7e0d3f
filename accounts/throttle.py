"""Sign-in under attack: guessing is slowed down, and hashing cannot eat the machine.

A password hash takes 100 MiB on purpose, so only a few may be computed at once. Every
attempt is counted before its password is looked at, so that a burst passes no limit, and
taken back when it succeeds. ADR 0018 says why the limits are these.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import BaseCache, caches
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from redis.exceptions import RedisError

from accounts.known_browsers import get_known_browser

WINDOW_SECONDS = 300
# One person's mistakes, for one name from one network or from one known browser.
PAIR_LIMIT = 10
# A network may be a whole office.
NETWORK_LIMIT = 100
# From here on strangers' attempts for one name take turns, whatever their networks.
NAME_LIMIT = 50
TURN_SECONDS = 10
SLOT_SECONDS = 5.0
_slots = threading.BoundedSemaphore(2)

T = TypeVar("T")
logger = logging.getLogger(__name__)


class TooBusy(Exception):
    """No room to compute another hash just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Why an attempt is refused, and when the next one may be made."""

    words: str
    seconds: int


_TOO_OFTEN = Wait(
    words="Too many failed attempts. Wait five minutes.", seconds=WINDOW_SECONDS
)
_TAKE_TURNS = Wait(
    words="Somebody is guessing passwords for this name, so new browsers take turns. "
    "Try again in ten seconds, or use a browser that you have signed in with before.",
    seconds=TURN_SECONDS,
)


@contextmanager
def take_hashing_slot() -> Iterator[None]:
    if not _slots.acquire(timeout=SLOT_SECONDS):
        raise TooBusy
    try:
        yield
    finally:
        _slots.release()


def clean_name(written: str) -> str:
    """The name as the sign-in form hands it on; empty where the form refuses it."""
    try:
        name: str = AuthenticationForm().fields["username"].clean(written)
    except ValidationError:
        return ""
    return name


def get_network(address: str) -> str:
    """What one client can hardly change: an IPv4 address, or the /64 of an IPv6 one."""
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, 64), strict=False))


def count_attempt(request: HttpRequest, name: str) -> Wait | None:
    """Count an attempt to sign in; a Wait if it may not be made now."""
    counted: list[str] = []
    for key, limit in _list_limits(request, name).items():
        if _count_once(key) > limit:
            _take_back(counted)
            return _TOO_OFTEN
        counted.append(key)
    if get_known_browser(request, name) is not None:
        return None
    if _count_once(_get_name_key(name)) > NAME_LIMIT and not _take_turn(name):
        # Only a turn was missing: who tries again must not use up their own attempts.
        _take_back(counted)
        return _TAKE_TURNS
    return None


def undo_attempt(request: HttpRequest, name: str) -> None:
    """The password was never looked at."""
    counted = list(_list_limits(request, name))
    # What a known browser does never counted for the name: it takes back nothing there.
    if get_known_browser(request, name) is None:
        counted.append(_get_name_key(name))
    _take_back(counted)


def forget_attempts(request: HttpRequest, name: str) -> None:
    """One of them succeeded, so that those before it were mistakes and no guesses."""
    undo_attempt(request, name)
    *_, own = _list_limits(request, name)
    _use_cache(lambda cache: cache.delete(own))


def _list_limits(request: HttpRequest, name: str) -> dict[str, int]:
    """The counters of this client and their limits; the last is this client's alone."""
    browser = get_known_browser(request, name)
    if browser is not None:
        return {f"sign-in:browser:{_hash_name(browser)}": PAIR_LIMIT}
    network = get_network(request.META.get("REMOTE_ADDR") or "")
    return {
        f"sign-in:network:{network}": NETWORK_LIMIT,
        f"sign-in:pair:{network}:{_hash_name(name)}": PAIR_LIMIT,
    }


def get_turn_key(name: str) -> str:
    return f"sign-in:turn:{_hash_name(name)}"


def _take_turn(name: str) -> bool:
    return _use_cache(
        lambda cache: cache.add(get_turn_key(name), 1, timeout=TURN_SECONDS)
    )


def _count_once(key: str) -> int:
    def add(cache: BaseCache) -> int:
        cache.add(key, 0, timeout=WINDOW_SECONDS)
        try:
            return cache.incr(key)
        except ValueError:  # it ran out between the two lines
            cache.set(key, 1, timeout=WINDOW_SECONDS)
            return 1

    return _use_cache(add)


def _take_back(keys: Iterable[str]) -> None:
    def take_back(cache: BaseCache) -> None:
        for key in keys:
            with suppress(ValueError):  # the window has ended meanwhile
                cache.decr(key)

    _use_cache(take_back)


def _use_cache(act: Callable[[BaseCache], T]) -> T:
    """All processes count together; while that fails, each counts for itself."""
    try:
        return act(caches["default"])
    except RedisError:
        logger.exception("Sign-ins are counted in this process alone")
        return act(caches["local"])


def _get_name_key(name: str) -> str:
    return f"sign-in:name:{_hash_name(name)}"


def _hash_name(text: str) -> str:
    """A cache key takes no free text, and a name is free text."""
    return hashlib.sha256(text.encode()).hexdigest()
