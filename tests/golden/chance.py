"""Chance that follows from the clock: the same moment draws the same ids and secrets.

Each purpose counts its own draws, and begins again when the clock moves. One draw more in a
request therefore changes nothing in the requests after it.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

_lock = threading.Lock()
_counts: dict[str, tuple[int, int]] = {}


def draw_bytes(purpose: str, length: int) -> bytes:
    """Return bytes that only the purpose, the moment and the count of draws decide."""
    now = time.time_ns()
    with _lock:
        moment, count = _counts.get(purpose, (now, 0))
        count = count + 1 if moment == now else 1
        _counts[purpose] = now, count
    seed = f"{purpose}:{now}:{count}".encode()
    return hashlib.shake_256(seed).digest(length)


def hold_chance() -> None:
    """Replace the makers of chance; call it before anything of the product is imported."""
    patched: dict[str, Any] = {
        "token_bytes": lambda length=32: draw_bytes("token", length),
        "token_hex": lambda length=32: draw_bytes("token", length).hex(),
        "token_urlsafe": _draw_text,
        "randbelow": _draw_number,
        "choice": _choose,
    }
    for name, maker in patched.items():
        setattr(secrets, name, maker)
    uuid.uuid4 = lambda: uuid.UUID(bytes=draw_bytes("uuid4", 16), version=4)


def hold_product_chance() -> None:
    """Replace what the product and Django draw by functions of their own."""
    from django.middleware import csrf

    from accounts import auth
    from common import ids

    def draw_id() -> int:
        noise = int.from_bytes(draw_bytes("uuid7", 10), "big")
        value = (time.time_ns() // 1_000_000) << 80 | 0x7 << 76
        value |= (noise >> 68 & 0xFFF) << 64 | 0b10 << 62
        return value | noise & ((1 << 62) - 1)

    ids._draw_number = draw_id
    # It remembers for some seconds who has which key: by our clock, too.
    setattr(auth, "time", SimpleNamespace(monotonic=time.time))  # noqa: B010 (a module)
    # Drawn for each form of each page: one value for all of them.
    csrf._get_new_csrf_string = lambda: "c" * csrf.CSRF_SECRET_LENGTH


def _draw_text(length: int = 32) -> str:
    return urlsafe_b64encode(draw_bytes("token", length)).rstrip(b"=").decode()


def _draw_number(limit: int) -> int:
    return int.from_bytes(draw_bytes("number", 16), "big") % limit


def _choose(values: Sequence[Any]) -> Any:
    return values[_draw_number(len(values))]
