"""The operation for OpenTelemetry: OTLP over HTTP, as its exporters speak it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_agent, get_parsed_request
from common.long_work import run_long
from gateway.telemetry.bodies import JSON, PROTOBUF, get_encoding, parse_spans
from gateway.use_cases.observed_spans import observe_spans

router = Router(tags=["Telemetry"])

_BINARY = {"schema": {"type": "string", "format": "binary"}}
_OBJECT = {"schema": {"type": "object"}}


@router.post(
    "/otlp/v1/traces",
    openapi_extra={
        "requestBody": {
            "description": "ExportTraceServiceRequest, also with gzip",
            "content": {PROTOBUF.media_type: _BINARY, JSON.media_type: _OBJECT},
        },
        "responses": {
            200: {
                "description": "ExportTraceServiceResponse, in the same encoding",
                "content": {PROTOBUF.media_type: _BINARY, JSON.media_type: _OBJECT},
            }
        },
    },
)
async def take_spans(request: HttpRequest) -> HttpResponse:
    """Spans of OpenTelemetry (GenAI conventions) as runs that are observed, not gated.

    For exporters: OTEL_EXPORTER_OTLP_ENDPOINT is this server's `/api/v1/otlp`.
    """
    encoding = get_encoding(request.headers.get("Content-Type", ""))
    gzipped = request.headers.get("Content-Encoding", "").strip().lower() == "gzip"
    raw = get_parsed_request(request).raw
    reading = await run_long(parse_spans, raw, encoding=encoding, gzipped=gzipped)
    refused = [
        *reading.refusals,
        *await observe_spans(agent=get_agent(request), spans=reading.spans),
    ]
    return HttpResponse(
        encoding.write(refused=len(refused), message=_list_reasons(refused)),
        content_type=encoding.media_type,
        headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
    )


def _list_reasons(refused: list[str]) -> str:
    """Each reason once: a batch is often wrong in one way."""
    return " ".join(dict.fromkeys(refused))[:1_000]
