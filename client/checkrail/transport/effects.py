"""Requests and flows: what is to happen, apart from how it is done.

A flow is a generator that yields what it needs done (send a request, sleep, call a function)
and is given the outcome. It does no I/O itself, so the same flow serves the blocking
and the asynchronous client; `driver` and `async_driver` do what it asks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

T = TypeVar("T")


class NoResponse(Exception):
    """No response came: refused, cut off, or too late. Flows decide what that means."""


@dataclass(frozen=True)
class Request:
    """`repeatable`: sent twice it does the same as once."""

    method: str
    path: str
    body: bytes | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = False
    read_seconds: float | None = None


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Callback:
    """Call the caller's own function; what it returns is the outcome."""

    callback: Callable[[Any], Any]
    argument: object


@dataclass(frozen=True)
class Acquire:
    """Wait for a lock of the driver's kind; the flow releases it itself."""

    lock: Any


Effect = Request | Sleep | Callback | Acquire
Flow = Generator[Effect, Any, T]


def get(
    path: str,
    params: Mapping[str, str] | None = None,
    *,
    read_seconds: float | None = None,
) -> Request:
    return Request(
        "GET", path, params=params or {}, repeatable=True, read_seconds=read_seconds
    )


def post(path: str, body: Mapping[str, Any]) -> Request:
    """An agent's POST: its key makes it one and the same request, however often sent."""
    key = {"Idempotency-Key": uuid4().hex}
    return Request("POST", path, encode_json(body), headers=key, repeatable=True)


def post_safe(path: str, body: Mapping[str, Any]) -> Request:
    """A POST that needs no key: steps have numbers, and evaluation stores nothing."""
    return Request("POST", path, encode_json(body), repeatable=True)


def post_once(path: str, body: Mapping[str, Any]) -> Request:
    """A person's POST: the server knows no keys for it, so it is sent only once."""
    return Request("POST", path, encode_json(body))


def quote_part(text: str) -> str:
    """Quote an id as one part of a path, whatever is in it."""
    return quote(text, safe="")


def encode_json(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise ValueError(
            "A text holds half of a character (a lone surrogate): it cannot be sent."
        ) from None


def drop_unset(**values: Any) -> dict[str, Any]:
    """Drop what was left out: the server has its own defaults."""
    return {
        name: value
        for name, value in values.items()
        if value is not None and value != () and value != "" and value is not False
    }
