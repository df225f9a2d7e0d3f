"""Sign-in under attack: guessing is slowed down, and hashing cannot eat the machine.

A password hash takes 100 MiB on purpose. Only a few may be computed at once, and who
fails too often from one address or for one name has to wait.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError

# An address may be a whole office; a name is one person.
FAILURES = {"name": 10, "address": 100}
WINDOW_SECONDS = 300
SLOT_SECONDS = 5.0
_slots = threading.BoundedSemaphore(2)

logger = logging.getLogger(__name__)


class TooBusy(Exception):
    """No room to compute another hash just now."""


@contextmanager
def hashing_slot() -> Iterator[None]:
    if not _slots.acquire(timeout=SLOT_SECONDS):
        raise TooBusy
    try:
        yield
    finally:
        _slots.release()


def too_many_failures(request: HttpRequest, username: str) -> bool:
    keys = _keys(request, username)
    try:
        counts = cache.get_many(keys)
    except RedisError:
        logger.exception("Failed sign-ins cannot be counted")
        return False  # the slots still hold, and people must get in to help
    return any(counts.get(key, 0) >= FAILURES[kind] for key, kind in keys.items())


def count_failure(request: HttpRequest, username: str) -> None:
    try:
        for key in _keys(request, username):
            cache.add(key, 0, timeout=WINDOW_SECONDS)
            cache.incr(key)
    except (RedisError, ValueError):  # ValueError: it ran out between the two lines
        logger.exception("A failed sign-in was not counted")


def _keys(request: HttpRequest, username: str) -> dict[str, str]:
    address = request.META.get("REMOTE_ADDR") or ""
    name = hashlib.sha256(username.encode()).hexdigest()
    return {f"sign-in:name:{name}": "name", f"sign-in:address:{address}": "address"}
