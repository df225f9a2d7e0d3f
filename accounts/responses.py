"""From a finished answer to Django's response."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse


def json_response(
    body: str | dict[str, Any],
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
