"""Spans as programs of all kinds send them: what is read of each part, and what is not."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from common.errors import TooLarge
from gateway.telemetry import bodies, spans
from gateway.telemetry.bodies import JSON, PROTOBUF, get_encoding, parse_spans
from gateway.telemetry.errors import Unreadable
from gateway.telemetry.meaning import SpanReport, Trace, group_traces, read_span
from gateway.telemetry.otlp_json import read_json, write_json
from gateway.telemetry.protobuf import read_protobuf, write_protobuf
from gateway.telemetry.spans import BadSpan, Reading, Span, clean_text, keep_values

TRACE, SPAN, PARENT = "ab" * 16, "cd" * 8, "ef" * 8


def read(node: dict[str, Any], resource: dict[str, Any] | None = None) -> Reading:
    whole = {"traceId": TRACE, "spanId": SPAN, **node}
    group = {"resource": resource or {}, "scopeSpans": [{"spans": [whole]}]}
    return read_json(json.dumps({"resourceSpans": [group]}).encode())


def read_one(**node: Any) -> Span:
    reading = read(node)
    assert reading.refusals == []
    return reading.spans[0]


def pair(key: Any, **value: Any) -> dict[str, Any]:
    return {"key": key, "value": value}


def build_span(**more: Any) -> Span:
    facts: dict[str, Any] = {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_id": "",
        "parent_is_remote": False,
        "name": "n",
        "started_ns": 0,
        "ended_ns": 0,
        "failed": False,
        "attributes": {},
        "resource": {},
    }
    return Span(**{**facts, **more})


def operate(operation: str, **more: Any) -> Span:
    attributes = {"gen_ai.operation.name": operation, **more.pop("attributes", {})}
    return build_span(attributes=attributes, **more)


def test_ids_are_hex_of_their_length_in_either_case() -> None:
    span = read_one(traceId=TRACE.upper(), spanId=SPAN.upper(), parentSpanId=PARENT)
    assert (span.trace_id, span.span_id, span.parent_id) == (TRACE, SPAN, PARENT)
    assert read_one(parentSpanId="0" * 16).parent_id == ""
    assert read_one(parentSpanId=None).begins_here
    for wrong in (
        {"traceId": "0" * 32},
        {"traceId": "ab" * 15},
        {"traceId": "xy" * 16},
        {"traceId": 7},
        {"spanId": "0" * 16},
        {"spanId": "ab" * 9},
        {"parentSpanId": "ab"},
    ):
        reading = read(wrong)
        assert (reading.spans, len(reading.refusals)) == ([], 1), wrong


def test_numbers_come_as_texts_or_as_they_are() -> None:
    span = read_one(startTimeUnixNano="1000000", endTimeUnixNano=5_000_000)
    assert (span.started_ns, span.ended_ns, span.duration_ms) == (10**6, 5 * 10**6, 4)
    for wrong in (True, 1.5, "1.5", "x", "1" * 21, "--1", [1]):
        assert read({"endTimeUnixNano": wrong}).spans == [], wrong
    assert read_one(endTimeUnixNano="5").duration_ms == 0, "its beginning is not known"
    assert build_span(started_ns=9 * 10**6, ended_ns=10**6).duration_ms == 0


def test_a_parent_elsewhere_is_none_of_this_program() -> None:
    for flags, remote in ((0x300, True), (0x200, False), (0x100, False), (0x301, True)):
        span = read_one(parentSpanId=PARENT, flags=flags)
        assert (span.parent_is_remote, span.begins_here) == (remote, remote)


def test_a_status_is_a_number_or_a_name() -> None:
    for code, failed in (
        (2, True),
        ("STATUS_CODE_ERROR", True),
        (1, False),
        (0, False),
    ):
        assert read_one(status={"code": code}).failed == failed
    assert build_span(failed=True).error == "error"
    timed_out = {"error.type": "timeout"}
    assert build_span(attributes=timed_out).error == "timeout"


def test_attributes_are_texts_and_whole_numbers_of_ours() -> None:
    span = read_one(
        attributes=[
            pair("gen_ai.a", stringValue="x"),
            pair("gen_ai.b", intValue="7"),
            pair("gen_ai.c", boolValue=True),
            pair("gen_ai.d", doubleValue=1.5),
            pair("other", stringValue="not ours"),
            pair(7, stringValue="x"),
            {"value": {"stringValue": "nameless"}},
            {"key": "gen_ai.e"},
        ]
    )
    assert span.attributes == {"gen_ai.a": "x", "gen_ai.b": 7}
    assert (span.get_text("gen_ai.b"), span.get_amount("gen_ai.b")) == ("", 7)
    with pytest.raises(BadSpan):
        span.get_amount("gen_ai.a")
    assert keep_values([("a", True), ("b", 1), ("c", "x\0")]) == {
        "b": 1,
        "c": "x\ufffd",
    }


def test_texts_are_such_as_a_database_holds() -> None:
    assert clean_text("a\0\ud800ä") == "a\ufffd?ä"
    assert len(clean_text("x" * 9_000)) == 4_000
    assert read_one(name=7).name == ""


def test_there_is_an_end_to_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [pair(f"gen_ai.{n}", intValue=n) for n in range(513)]
    assert len(read_one(attributes=many).attributes) == 512
    monkeypatch.setattr(spans, "PARTS_MAX", 3)
    assert len(read({}).spans) == 1
    monkeypatch.setattr(spans, "PARTS_MAX", 2)
    with pytest.raises(TooLarge):
        read({})
    monkeypatch.setattr(bodies, "INFLATED_LIMIT", 100)

    def inflate(raw: bytes) -> Reading:
        return parse_spans(raw, encoding=JSON, gzipped=True)

    assert inflate(gzip.compress(b'{"a": "' + b"x" * 91 + b'"}')).spans == []
    with pytest.raises(TooLarge):
        inflate(gzip.compress(b"x" * 101))
    for wrong in (b"{}", gzip.compress(b"{}")[:-4], gzip.compress(b"{}") + b"x"):
        with pytest.raises(Unreadable):
            inflate(wrong)


def test_what_is_no_request_is_said_so() -> None:
    for raw in (b"", b"[", b"[]", b"7", b"[" * 100_000):
        with pytest.raises(Unreadable):
            read_json(raw)
    for part in (b"{}", b"[7]", b'[{"resource": []}]', b'[{"scopeSpans": "x"}]'):
        with pytest.raises(Unreadable):
            read_json(b'{"resourceSpans": ' + part + b"}")
    bad = {"attributes": [pair("gen_ai.x", intValue="x")]}
    with pytest.raises(Unreadable, match="In a resource"):
        read({}, resource=bad)
    with pytest.raises(Unreadable):
        read_protobuf(b"\xff\xff")
    assert read_json(b'{"resourceSpans": null}').spans == []


def test_what_was_refused_is_counted_in_the_answer() -> None:
    assert write_json(refused=0, message="x") == b"{}"
    told = json.loads(write_json(refused=2, message="ä"))["partialSuccess"]
    assert told == {"rejectedSpans": "2", "errorMessage": "ä"}
    assert write_protobuf(refused=0, message="x") == b""
    raw = write_protobuf(refused=2, message="why")
    assert b"why" in raw
    assert raw.startswith(b"\x0a")
    assert b"\x08\x02" in raw, "the number of spans"
    for text, encoding in (
        ("application/x-protobuf", PROTOBUF),
        ("Application/X-Protobuf ; charset=x", PROTOBUF),
        ("application/json", JSON),
    ):
        assert get_encoding(text) is encoding


def test_each_operation_is_a_step_or_an_end() -> None:
    usage = {"gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 2}
    for operation in ("chat", "text_completion", "generate_content", "embeddings"):
        model = {**usage, "gen_ai.request.model": "m"}
        told = read_span(operate(operation, attributes=model))
        assert told.step is not None
        assert (told.step.summary, told.step.tokens) == (f"{operation} m", 7)
        assert (told.step.tool_calls, told.outcome) == (0, None)
    tool = read_span(
        operate(
            "execute_tool",
            failed=True,
            attributes={"gen_ai.tool.call.arguments": "x" * 9_000},
        )
    ).step
    assert tool is not None
    assert (tool.summary, tool.tool_calls, tool.failed_calls) == (
        "a tool, failed: error",
        1,
        1,
    )
    assert tool.signature is not None
    assert tool.signature.startswith("a tool:xxx")
    assert len(tool.signature) == 4_000
    named = read_span(operate("execute_tool", attributes={"gen_ai.tool.name": "q"}))
    assert named.step is not None
    assert (named.step.summary, named.step.signature) == ("q", None)
    assert named.step.failed_calls == 0
    for operation in ("invoke_agent", "invoke_workflow"):
        ended = read_span(operate(operation, name="", failed=True))
        assert ended.outcome is not None
        assert (ended.step, ended.outcome.outcome) == (None, "failed")
        assert ended.outcome.summary == f"{operation}, failed: error"
        whole = read_span(operate(operation, attributes=usage))
        assert whole.outcome is not None
        assert whole.step is not None
        assert (whole.outcome.outcome, whole.step.tokens) == ("completed", 7)
    for name in usage:
        with pytest.raises(BadSpan, match="negative"):
            read_span(operate("chat", attributes={name: -1}))


def test_where_a_span_comes_from_is_told_with_times_that_are_some() -> None:
    span = operate("chat", started_ns=10**15, ended_ns=253_370_764_800 * 10**9)
    origin = SpanReport(span=span).build_origin()
    assert origin == {
        "trace_id": TRACE,
        "span_id": SPAN,
        "started_at": "1970-01-12T13:46:40.000000Z",
        "ended_at": None,
    }
    assert read_span(operate("chat")).build_origin()["started_at"] is None


def test_a_run_is_named_by_its_agent_or_its_service() -> None:
    def run(spans: list[Span]) -> Any:
        return Trace(TRACE, spans).build_run(parent=None)

    nameless = run([operate("chat")])
    assert (nameless.task, nameless.policy) == ("An agent", "default")
    assert nameless.labels == {"trace": TRACE}
    service = {"service.name": "s" * 900, "checkrail.policy": "p"}
    named = {"gen_ai.agent.name": "robo", "gen_ai.conversation.id": "c"}
    whole = run(
        [
            build_span(attributes={"gen_ai.agent.name": "not telling"}),
            operate("chat", resource=service),
            operate("chat", attributes={**named, "gen_ai.request.model": "m" * 900}),
        ]
    )
    assert (whole.task, whole.policy, len(whole.model)) == ("robo", "p", 200)
    assert whole.labels["service"] == "s" * 256
    assert (whole.labels["agent"], whole.labels["conversation"]) == ("robo", "c")
    assert run([operate("chat", resource=service)]).task.startswith("sss")


def test_spans_stand_in_the_order_of_their_ends_and_under_each_other() -> None:
    late = operate("chat", span_id="1" * 16, ended_ns=9)
    early = operate("chat", span_id="2" * 16, ended_ns=1)
    other = operate("chat", trace_id="cd" * 16)
    first, second = group_traces([late, other, early])
    assert [span.span_id for span in first.spans] == ["2" * 16, "1" * 16]
    assert second.trace_id == "cd" * 16

    def line(*parents: tuple[str, str, str]) -> Trace:
        made = [
            operate(operation, span_id=name * 16, parent_id=parent * 16)
            if operation
            else build_span(span_id=name * 16, parent_id=parent * 16)
            for name, parent, operation in parents
        ]
        return Trace(TRACE, made)

    def above(trace: Trace, name: str) -> str | None:
        span = next(each for each in trace.spans if each.span_id == name * 16)
        return trace.find_above(span)

    nested = line(("a", "b", "chat"), ("b", "c", ""), ("c", "", "invoke_agent"))
    assert above(nested, "a") is None, "an agent stands above"
    assert above(nested, "c") == ""
    later = line(("a", "b", "chat"), ("b", "c", ""))
    assert above(later, "a") == "c" * 16, "it may come later"
    ring = line(("a", "b", ""), ("b", "a", ""))
    assert above(ring, "a") == ""
    remote = Trace(TRACE, [operate("chat", parent_id=PARENT, parent_is_remote=True)])
    assert remote.find_above(remote.spans[0]) == ""
