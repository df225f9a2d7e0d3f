"""Replies to API requests: built once, sent as they are by whatever server sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The status and JSON text of an answer; `replayed` for a repeated request."""

    status: int
    body: str
    replayed: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return {"Idempotency-Replayed": "true"} if self.replayed else {}


def build_reply(
    body: dict[str, Any], *, status: int = 200, replayed: bool = False
) -> Reply:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Reply(status=status, body=text, replayed=replayed)


def build_json_response(
    body: str | dict[str, Any] | list[dict[str, Any]],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    text = (
        body
        if isinstance(body, str)
        else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    )
    return HttpResponse(
        text,
        status=status,
        content_type="application/json; charset=utf-8",
        headers={
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **(headers or {}),
        },
    )


def send_reply(reply: Reply) -> HttpResponse:
    return build_json_response(reply.body, status=reply.status, headers=reply.headers)
