"""OTLP in its binary encoding."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Message
from opentelemetry.proto.trace.v1.trace_pb2 import SpanFlags, Status

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

_REMOTE = (
    SpanFlags.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
    | SpanFlags.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK
)


def read_protobuf(raw: bytes) -> Reading:
    try:
        request = ExportTraceServiceRequest.FromString(raw)
    except DecodeError as error:
        raise Unreadable(f"Not an ExportTraceServiceRequest: {error}.") from None
    reading = Reading()
    for group in request.resource_spans:
        reading.count_part()
        resource = _parse_attributes(group.resource.attributes)
        for scope in group.scope_spans:
            reading.count_part()
            for message in scope.spans:
                reading.count_part()
                try:
                    reading.spans.append(_parse_span(message, resource))
                except BadSpan as error:
                    reading.refusals.append(str(error))
    return reading


def write_protobuf(*, refused: int, message: str) -> bytes:
    answer = ExportTraceServiceResponse()
    if refused:
        answer.partial_success.rejected_spans = refused
        answer.partial_success.error_message = message
    raw: bytes = answer.SerializeToString()
    return raw


def _parse_span(message: Message, resource: Attributes) -> Span:
    trace_id, span_id, parent_id = check_ids(
        trace_id=message.trace_id.hex(),
        span_id=message.span_id.hex(),
        parent_id=message.parent_span_id.hex(),
    )
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        parent_is_remote=message.flags & _REMOTE == _REMOTE,
        name=clean_text(message.name),
        started_ns=message.start_time_unix_nano,
        ended_ns=message.end_time_unix_nano,
        failed=message.status.code == Status.STATUS_CODE_ERROR,
        attributes=_parse_attributes(message.attributes),
        resource=resource,
    )


def _parse_attributes(pairs: Iterable[KeyValue]) -> Attributes:
    return keep_values(
        (pair.key, _parse_value(pair))
        for pair in islice(pairs, ATTRIBUTES_MAX)
        if is_wanted(pair.key) and pair.value.WhichOneof("value")
    )


def _parse_value(pair: KeyValue) -> object:
    return getattr(pair.value, str(pair.value.WhichOneof("value")))
