"""The body of a delivery, and texts of agents and people made fit to leave the server:
without secrets, without invisible characters, and short."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, TypeVar, cast

from guidance.redactor import clean
from ledger.chain import format_timestamp
from safetext import make_visible

T = TypeVar("T")
BODY_LIMIT = 20_000
TEXT_LIMIT = 2_000


def build_body(*, type: str, at: datetime, sequence: int, data: dict[str, Any]) -> str:
    """The exact text that every attempt sends.

    If it is too long, the largest parts are left out and named in `truncated`.
    """
    rest, left_out = dict(data), list[str]()
    while True:
        body = _encode(
            {
                "type": type,
                "timestamp": format_timestamp(at),
                "sequence": sequence,
                "data": {**rest, "truncated": left_out} if left_out else rest,
            }
        )
        if len(body.encode()) <= BODY_LIMIT:
            return body
        largest = max(rest, key=lambda name: len(_encode(rest[name]).encode()))
        del rest[largest]
        left_out.append(largest)


def _encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fit_texts(**texts: str | None) -> dict[str, Any]:
    """The texts, safe and shortened; `truncated` names those that were too long."""
    fit = {
        name: None if text is None else make_safe(text) for name, text in texts.items()
    }
    long = [name for name, text in fit.items() if text and len(text) > TEXT_LIMIT]
    for name in long:
        fit[name] = shorten(fit[name] or "", limit=TEXT_LIMIT)
    return {**fit, "truncated": long} if long else dict(fit)


def build_excerpt(reply: str, *, limit: int) -> str:
    """The beginning of a receiver's reply, safe to store and show."""
    # Cleaned before it is cut: half a secret is not recognised.
    return shorten(make_safe(reply[: 8 * limit]), limit=limit)


def shorten(text: str, *, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def make_safe(value: T) -> T:
    """Redact secrets in a text or a document, and make invisible characters visible."""
    return cast("T", _make_visible(clean(value)))


def _make_visible(value: Any) -> Any:
    if isinstance(value, str):
        return make_visible(value)
    if isinstance(value, dict):
        return {make_visible(name): _make_visible(each) for name, each in value.items()}
    return [_make_visible(each) for each in value] if isinstance(value, list) else value
