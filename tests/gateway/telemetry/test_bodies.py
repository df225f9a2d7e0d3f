"""Bodies that are no spans: junk, bombs, and forms that we do not take."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from gateway.telemetry.spans import PARTS_MAX
from tests.gateway.telemetry.spans import PATH, chat, new_trace, request, runs
from tests.support.problems import problem

pytestmark = pytest.mark.once("judges bodies that are refused")

PROTOBUF = {"Content-Type": "application/x-protobuf"}
JSON = {"Content-Type": "application/json"}
GZIP = {"Content-Encoding": "gzip"}


def test_what_is_wrong_with_a_body_is_said(agent: httpx.Client) -> None:
    good = json.dumps(request(chat(new_trace()))).encode()
    packed = gzip.compress(good)
    bomb = gzip.compress(b"\0" * 10_000_000)
    assert len(bomb) < 50_000
    flood = ExportTraceServiceRequest()
    for _ in range(PARTS_MAX + 1):
        flood.resource_spans.add()
    for what, headers, body, slug in (
        ("junk", PROTOBUF, b"\xff" * 100, "malformed"),
        ("no UTF-8", PROTOBUF, b"\x0a\x05\x1a\x03\xff\xff\xff", "malformed"),
        ("no JSON", JSON, b"{", "malformed"),
        ("a list", JSON, b"[]", "malformed"),
        ("groups of another form", JSON, b'{"resourceSpans": {}}', "malformed"),
        ("spans of another form", JSON, b'{"resourceSpans": [1]}', "malformed"),
        ("too deep", JSON, b"[" * 100_000, "malformed"),
        ("nothing", JSON, b"", "malformed"),
        ("a flood", PROTOBUF, flood.SerializeToString(), "too-large"),
        ("too long", JSON, b" " * 1_048_577, "too-large"),
        ("a bomb", {**PROTOBUF, **GZIP}, bomb, "too-large"),
        ("cut off", {**JSON, **GZIP}, packed[:-9], "malformed"),
        ("with more behind", {**JSON, **GZIP}, packed + b"x", "malformed"),
        ("not packed", {**JSON, **GZIP}, good, "malformed"),
        (
            "deflated",
            {**JSON, "Content-Encoding": "deflate"},
            b"x",
            "unsupported-media",
        ),
        ("text", {"Content-Type": "text/plain"}, good, "unsupported-media"),
    ):
        told = problem(agent.post(PATH, content=body, headers=headers), slug)
        assert told["detail"], what

    assert runs(agent) == []
    # Only this address takes such forms.
    problem(agent.post("/runs", content=good, headers=PROTOBUF), "unsupported-media")
    packed_run = gzip.compress(b'{"task": "t"}')
    both = {**JSON, **GZIP}
    problem(agent.post("/runs", content=packed_run, headers=both), "unsupported-media")


def test_the_answer_comes_in_the_encoding_of_the_question(agent: httpx.Client) -> None:
    wanted = ExportTraceServiceRequest()
    scope = wanted.resource_spans.add().scope_spans.add()
    scope.spans.add(trace_id=b"\1" * 16, span_id=b"\2" * 8, name="GET /")
    for count in (0, 1):
        answer = agent.post(PATH, content=wanted.SerializeToString(), headers=PROTOBUF)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/x-protobuf"
        told = ExportTraceServiceResponse.FromString(answer.content)
        assert told.partial_success.rejected_spans == count
        scope.spans.add(trace_id=b"\0" * 16, span_id=b"\2" * 8)
    empty = agent.post(PATH, content=b"", headers=PROTOBUF)
    assert (empty.status_code, empty.content) == (200, b"")
    packed = gzip.compress(json.dumps(request(chat(new_trace()))).encode())
    answer = agent.post(PATH, content=packed, headers={**JSON, **GZIP})
    assert (answer.status_code, answer.json()) == (200, {})
    assert len(runs(agent)) == 1
