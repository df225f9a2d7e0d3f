"""The body of a webhook: the very text that every attempt sends, and never a long one."""

from __future__ import annotations

import json
from typing import Any

from ledger.chain import timestamp
from webhooks.events import Event

BODY_LIMIT = 20_000


def body_of(event: Event, number: int) -> str:
    """What does not fit is left out, the largest part first, and named."""
    data, left_out = dict(event.data), list[str]()
    while True:
        body = _text(
            {
                "type": event.type,
                "timestamp": timestamp(event.at),
                "sequence": number,
                "data": {**data, "truncated": left_out} if left_out else data,
            }
        )
        if len(body.encode()) <= BODY_LIMIT:
            return body
        largest = max(data, key=lambda name: len(_text(data[name]).encode()))
        del data[largest]
        left_out.append(largest)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
