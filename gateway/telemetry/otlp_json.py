"""OTLP in JSON: ids in hex, 64-bit numbers as texts, enums by number or name.

Read leniently, as the protocol wants it: fields that are not known are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from gateway.telemetry.errors import Unreadable
from gateway.telemetry.spans import (
    ATTRIBUTES_MAX,
    Attributes,
    BadSpan,
    Reading,
    Span,
    check_ids,
    clean_text,
    is_wanted,
    keep_values,
)

_REMOTE = 0x300
_ERROR = (2, "STATUS_CODE_ERROR")
_HEX = frozenset("0123456789abcdef")


def read_json(raw: bytes) -> Reading:
    try:
        request = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"Not JSON: {error}.") from None
    if not isinstance(request, dict):
        raise Unreadable("Not an ExportTraceServiceRequest: send one object.")
    reading = Reading()
    for group in _list_objects(request, "resourceSpans"):
        reading.count_part()
        resource = _parse_resource(group)
        for scope in _list_objects(group, "scopeSpans"):
            reading.count_part()
            for node in _list_objects(scope, "spans"):
                reading.count_part()
                try:
                    reading.spans.append(_parse_span(node, resource))
                except BadSpan as error:
                    reading.refusals.append(str(error))
    return reading


def write_json(*, refused: int, message: str) -> bytes:
    if not refused:
        return b"{}"
    told = {"rejectedSpans": str(refused), "errorMessage": message}
    return json.dumps({"partialSuccess": told}, ensure_ascii=False).encode()


def _parse_span(node: dict[str, Any], resource: Attributes) -> Span:
    trace_id, span_id, parent_id = check_ids(
        trace_id=_get_hex(node, "traceId"),
        span_id=_get_hex(node, "spanId"),
        parent_id=_get_hex(node, "parentSpanId"),
    )
    name = node.get("name")
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        parent_is_remote=_get_number(node.get("flags") or 0) & _REMOTE == _REMOTE,
        name=clean_text(name) if isinstance(name, str) else "",
        started_ns=_get_number(node.get("startTimeUnixNano") or 0),
        ended_ns=_get_number(node.get("endTimeUnixNano") or 0),
        failed=_get_object(node, "status").get("code") in _ERROR,
        attributes=_parse_attributes(node),
        resource=resource,
    )


def _parse_resource(group: dict[str, Any]) -> Attributes:
    try:
        return _parse_attributes(_get_object(group, "resource"))
    except BadSpan as error:
        raise Unreadable(f"In a resource: {error}") from None


def _parse_attributes(node: dict[str, Any]) -> Attributes:
    return keep_values(
        (pair["key"], _parse_value(_get_object(pair, "value")))
        for pair in islice(_list_objects(node, "attributes"), ATTRIBUTES_MAX)
        if isinstance(pair.get("key"), str) and is_wanted(pair["key"])
    )


def _parse_value(node: dict[str, Any]) -> object:
    if "intValue" in node:
        return _get_number(node["intValue"])
    return node.get("stringValue")


def _get_number(value: object) -> int:
    """Such numbers are sent as texts; some senders send them as they are."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= 20 and value.lstrip("-").isdecimal():
        try:
            return int(value)
        except ValueError:
            pass
    raise BadSpan("A number is not a whole one of 64 bits.")


def _get_hex(node: dict[str, Any], name: str) -> str:
    value = node.get(name) or ""
    if not isinstance(value, str) or not _HEX.issuperset(value.lower()):
        raise BadSpan(f"{name} is not in hex.")
    return value.lower()


def _get_object(node: dict[str, Any], name: str) -> dict[str, Any]:
    value = node.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable(f"{name} is not an object.")
    return value


def _list_objects(node: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    value = node.get(name)
    if value is None:
        return
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Unreadable(f"{name} is not a list of objects.")
    yield from value
