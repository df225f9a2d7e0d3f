"""Spans as programs send them: OTLP in JSON, made by hand."""

from __future__ import annotations

import json
from itertools import count
from typing import Any
from uuid import uuid4

import httpx

_ids = count(1)
BEGAN = 1_763_200_000 * 10**9
PATH = "/otlp/v1/traces"


def new_trace() -> str:
    return uuid4().hex


def span(
    trace: str,
    operation: str = "",
    *,
    span_id: str = "",
    parent: str = "",
    failed: bool = False,
    **attributes: Any,
) -> dict[str, Any]:
    """Names of attributes with underscores for dots after `gen_ai`: usage__input_tokens."""
    number = next(_ids)
    pairs = {"gen_ai.operation.name": operation} if operation else {}
    pairs |= {
        f"gen_ai.{name.replace('__', '.')}": value for name, value in attributes.items()
    }
    return {
        "traceId": trace,
        "spanId": span_id or f"{number:016x}",
        "parentSpanId": parent,
        "name": operation or "GET /",
        "kind": "SPAN_KIND_INTERNAL",
        "startTimeUnixNano": str(BEGAN + number * 10**9),
        "endTimeUnixNano": str(BEGAN + number * 10**9 + 250_000_000),
        "attributes": [_pair(name, value) for name, value in pairs.items()],
        "status": {"code": 2} if failed else {},
        "aFieldFromTheFuture": [1, 2, 3],
    }


def _pair(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"key": name, "value": {"intValue": str(value)}}
    return {"key": name, "value": {"stringValue": value}}


def chat(trace: str, tokens: int = 100, **more: Any) -> dict[str, Any]:
    return span(trace, "chat", usage__input_tokens=tokens, **more)


def request(
    *spans: dict[str, Any], service: str = "shop", **resource: str
) -> dict[str, Any]:
    named = {"service.name": service, **resource}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [_pair(*pair) for pair in named.items()]},
                "scopeSpans": [{"scope": {"name": "tests"}, "spans": list(spans)}],
            }
        ]
    }


def send(client: httpx.Client, *spans: dict[str, Any], **more: Any) -> dict[str, Any]:
    raw = json.dumps(request(*spans, **more))
    answer = client.post(
        PATH, content=raw, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    body: dict[str, Any] = answer.json()
    return body


def runs(client: httpx.Client) -> list[dict[str, Any]]:
    """The agent's observed runs, oldest first."""
    answer = client.get("/runs", params={"label": "source:opentelemetry"})
    items: list[dict[str, Any]] = answer.json()["items"]
    return items[::-1]
