"""A notice for the other processes: this one has seen that writes fail.

Behind one address there are several processes, and a probe asks whichever comes first.
One that has written nothing lately would call itself ready. The notice is a hint: who
finds it tries a write of its own.
"""

from __future__ import annotations

import os
import socket

from django.core.cache import cache
from redis.exceptions import RedisError

_KEY = "health:writes-fail"
# Left again at every look while writes fail.
_SECONDS = 60


def leave_notice() -> None:
    try:
        cache.set(_KEY, get_process_name(), timeout=_SECONDS)
    except RedisError:
        # The broker's own line in the answer says that Redis is away.
        return


def find_notice() -> bool:
    """Whether another process has left one."""
    try:
        return cache.get(_KEY) not in (None, get_process_name())
    except RedisError:
        return False


def remove_notice() -> None:
    try:
        cache.delete(_KEY)
    except RedisError:
        return


def get_process_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
