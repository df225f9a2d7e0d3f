"""Bodies are read once, as far as allowed, in one form, and whatever fails is said."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from django.db import DatabaseError, InterfaceError
from django.test.utils import override_settings

from common.errors import DomainError, Invalid, RateLimited, UnsupportedMedia
from config.fastpath import lenient_json, strict_json
from config.fastpath.asgi import Message, Scope
from config.fastpath.bodies import (
    JSON,
    SPANS,
    TOOL_RESULT,
    BodyRules,
    check_form,
    parse_body,
    read_body,
    replay_body,
)
from config.fastpath.fail_closed import Recorder, fail_closed
from config.fastpath.key_rate import KeyRate
from config.fastpath.outcomes import ClientGone, send_error, stop_on_hang_up
from config.fastpath.problems import build_invalid_fields, build_problem, render_problem
from config.fastpath.streaming import Stream, send_stream
from tests.support.builders import Robot
from tests.support.rows import each_row

HOOK = "/api/v1/hooks/claude-code/PreToolUse"


def refuse(headers: dict[str, str], rules: BodyRules = JSON) -> str | None:
    raw = [(n.replace("_", "-").encode(), v.encode()) for n, v in headers.items()]
    try:
        check_form({"headers": raw}, rules, limit=100)
    except DomainError as error:
        return error.slug
    return None


KIND = "application/json"


@each_row(
    ("headers", "slug"),
    [
        ({"content_length": "100", "content_type": KIND}, None),
        ({"content_length": "101", "content_type": KIND}, "too-large"),
        ({"content_length": "-1", "content_type": KIND}, "too-large"),
        ({"content_length": "1x", "content_type": KIND}, "too-large"),
        ({"content_length": "5"}, "unsupported-media"),
        ({"transfer_encoding": "chunked"}, "unsupported-media"),
        ({"transfer_encoding": "chunked", "content_type": KIND}, None),
        ({"content_length": "0"}, None),
        ({}, None),
        ({"content_encoding": "gzip"}, "unsupported-media"),
        ({"content_encoding": " Identity "}, None),
        ({"content_length": "5", "content_type": " Application/JSON "}, None),
        ({"content_length": "5", "content_type": f'{KIND}; charset="UTF-8"'}, None),
        (
            {"content_length": "5", "content_type": f"{KIND};charset=latin-1"},
            "unsupported-media",
        ),
        (
            {"content_length": "5", "content_type": "application/x-protobuf"},
            "unsupported-media",
        ),
    ],
)
def test_the_form_is_judged_by_the_headers(
    headers: dict[str, str], slug: str | None
) -> None:
    assert refuse(headers) == slug


def test_spans_come_in_two_forms_and_packed_or_not() -> None:
    for kind in ("application/x-protobuf", "application/json; charset=odd"):
        for coding in ("gzip", "identity", ""):
            given = {"content_type": kind, "content_encoding": coding}
            assert refuse({"content_length": "5", **given}, SPANS) is None
    with pytest.raises(UnsupportedMedia, match="or with gzip"):
        check_form({"headers": [(b"content-encoding", b"br")]}, SPANS, limit=9)
    assert refuse({"content_length": "5", "content_type": "text/x"}, SPANS) is not None


def test_a_body_is_read_to_its_end_and_no_further_than_allowed() -> None:
    async def scene() -> None:
        pieces: list[Message] = []

        async def receive() -> Message:
            return pieces.pop(0)

        def come(*sizes: int) -> None:
            pieces[:] = [
                {"type": "http.request", "body": b"x" * size, "more_body": True}
                for size in sizes
            ]
            pieces.append({"type": "http.request"})

        come(3, 4, 3)
        assert await read_body({}, receive, limit=10) == b"x" * 10
        come(3, 4, 4, 50)
        with pytest.raises(DomainError, match="At most 10 bytes"):
            await read_body({}, receive, limit=10)
        assert len(pieces) == 2  # the rest was not asked for
        pieces[:] = [{"type": "http.disconnect"}]
        with pytest.raises(ClientGone):
            await read_body({}, receive, limit=10)

        async def never() -> Message:
            await asyncio.sleep(60)
            raise AssertionError

        with (
            override_settings(BODY_TIMEOUT_S=0.01),
            pytest.raises(DomainError, match=r"within 0\.01 seconds") as late,
        ):
            await read_body({}, never, limit=10)
        assert late.value.slug == "request-timeout"
        again = replay_body(b"abc", receive)
        pieces[:] = [{"type": "http.disconnect"}]
        whole = {"type": "http.request", "body": b"abc", "more_body": False}
        assert [await again(), await again()] == [whole, {"type": "http.disconnect"}]
        for size in (10, 300_000):  # in a thread where it is long
            text = b'"' + b"x" * min(size, 200_000) + b'"' + b" " * (size // 3)
            assert await parse_body(text, JSON) == "x" * min(size, 200_000)
        assert await parse_body(b"", JSON) is None
        assert await parse_body(b"{}", SPANS) is None

    asyncio.run(scene())


@each_row(
    ("raw", "document"),
    [
        (rb'"a\u0000b"', "a\ufffdb"),
        (rb'"\ud800x"', "\ufffdx"),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'{"k\u0000": ["\udc00"]}', {"k\ufffd": ["\ufffd"]}),
        (b"123456789012345", 123456789012345),
        (b"1234567890123456", "1234567890123456"),
        (b"-12345678901234", -12345678901234),
        (b"1e999", "1e999"),
        (b"1.5", 1.5),
        (b"[NaN, Infinity, -Infinity]", ["NaN", "Infinity", "-Infinity"]),
        (b"[null, true]", [None, True]),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_whatever_a_tool_printed_can_be_told(raw: bytes, document: Any) -> None:
    assert lenient_json.parse(raw) == document


def test_a_result_has_limits_too() -> None:
    assert TOOL_RESULT.limit == 8 * 1_048_576

    def nest(levels: int) -> bytes:
        return b"[" * levels + b"]" * levels

    lenient_json.parse(nest(101))
    lenient_json.parse(b'{"a":' * 100 + b"1" + b"}" * 100)
    for raw, words in (
        (nest(102), "deeper than 100"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "deeper than 100"),
        (nest(100_000), "deeper than 100"),
        (b'"\xff"', "Byte 1 is not valid UTF-8"),
        (b'{"a": 1} x', "Line 1, column 10"),
    ):
        with pytest.raises(DomainError, match=words):
            lenient_json.parse(raw)


def test_the_largest_text_and_the_deepest_nesting_are_taken() -> None:
    assert (strict_json.BODY_LIMIT, strict_json.STRING_LIMIT) == (1_048_576, 262_144)
    longest = "x" * 262_144
    assert strict_json.parse(json.dumps([longest]).encode()) == [longest]
    with pytest.raises(DomainError, match="longer than 262,144"):
        strict_json.parse(json.dumps({longest + "x": 1}).encode())
    strict_json.parse(b"[" * 32 + b"]" * 32)
    with pytest.raises(DomainError, match="deeper than 32"):
        strict_json.parse(b"[" * 33 + b"]" * 33)
    with pytest.raises(DomainError, match=r"Line 2, column 3"):
        strict_json.parse(b"[1,\n 2 3]".replace(b"2 3", b" x"))


def test_a_fault_is_named_without_what_was_sent() -> None:
    secret = "ghp_" + "aB3dE6gH9jK2" * 3
    items: list[dict[str, Any]] = [
        {"loc": ("body", "body", "state", secret), "msg": "not so"},
        {"loc": ("other", 3), "msg": "nor so"},
    ]
    found = build_invalid_fields(items, strip=("body", "body"))
    assert found.detail == f"state.{secret}: not so (and 1 more)"
    told = render_problem(found).decode()
    assert secret not in told
    assert [each["message"] for each in json.loads(told)["errors"]] == [
        *("not so", "nor so"),
    ]
    assert json.loads(told)["errors"][1]["loc"] == ["other", 3]
    alone = build_invalid_fields([{"loc": (), "msg": "no document"}])
    assert alone.detail == "body: no document"


def test_a_fault_of_ours_is_logged_and_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for error, slug in (
        (DatabaseError("dsn"), "unavailable"),
        (InterfaceError("dsn"), "unavailable"),
        (LookupError("inside"), "internal"),
    ):
        caplog.clear()
        found = build_problem(error, method="GET", path="/x")
        assert found.slug == slug
        assert str(error) not in found.detail
        assert "GET /x failed" in caplog.text
        assert f"{type(error).__name__}: {error}" in caplog.text
    caplog.clear()
    known = Invalid("not so")
    assert build_problem(known, method="GET", path="/x") is known
    assert caplog.text == ""


def test_the_rate_is_said_in_whole_seconds(robo: Robot) -> None:
    principal = robo.principal
    for rate, words in ((1, "1 request a second"), (1_000, "1,000 requests a second")):
        limited = KeyRate(per_second=rate, clock=lambda: 7.0)
        for _ in range(5 * rate):
            limited.check(principal)
        with pytest.raises(RateLimited, match=words) as refused:
            limited.check(principal)
        assert refused.value.headers["Retry-After"] == "1"


class Caller:
    """A caller that hangs up when it is told to, and remembers what it was sent."""

    def __init__(self) -> None:
        self.hang_up = asyncio.Event()
        self.heard: list[Message] = []
        self.asked = 0

    async def receive(self) -> Message:
        self.asked += 1
        if self.asked == 1:
            return {"type": "http.request"}  # the end of its body
        await self.hang_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.heard.append(message)


def test_work_ends_with_its_caller_and_a_fault_of_it_is_raised() -> None:
    async def scene() -> None:
        caller, ended = Caller(), asyncio.Event()

        async def work() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

        caller.hang_up.set()
        with pytest.raises(ClientGone):
            await stop_on_hang_up(work(), caller.receive)
        await asyncio.wait_for(ended.wait(), 60)

        async def fail() -> str:
            raise LookupError

        caller = Caller()
        with pytest.raises(LookupError):
            await stop_on_hang_up(fail(), caller.receive)
        await asyncio.sleep(0)
        # Nobody is left who would take the next word of the caller.
        assert asyncio.all_tasks() == {asyncio.current_task()}
        scope: Scope = {"method": "GET", "path": "/x"}

        await send_error(ClientGone(), scope, caller.send)
        assert caller.heard == []
        await send_error(RuntimeError(), scope, caller.send)
        assert caller.heard[0]["status"] == 500

    asyncio.run(scene())


def test_a_stream_ends_with_its_caller_and_lets_go_of_what_it_holds() -> None:
    async def scene(*, hangs_up: bool) -> tuple[list[Message], bool]:
        caller, closed = Caller(), False

        async def pieces() -> AsyncGenerator[str]:
            nonlocal closed
            try:
                yield "a"
                if hangs_up:
                    caller.hang_up.set()
                    await asyncio.sleep(60)
                yield "ü"
            finally:
                await asyncio.sleep(0)
                closed = True

        stream = Stream(media_type="text/x", headers={"X-A": "1"}, pieces=pieces())
        await send_stream(caller.send, caller.receive, stream)
        return caller.heard, closed

    heard, closed = asyncio.run(scene(hangs_up=False))
    assert closed
    assert heard[0]["headers"] == [(b"content-type", b"text/x"), (b"x-a", b"1")]
    assert [each.get("body") for each in heard[1:]] == [b"a", "ü".encode(), None]
    assert [each.get("more_body", False) for each in heard[1:]] == [True, True, False]
    heard, closed = asyncio.run(scene(hangs_up=True))
    assert closed
    assert [each.get("body") for each in heard[1:]] == [b"a"]


@each_row(
    ("status", "body", "passes"),
    [
        (200, b"{}", True),
        (200, b'{"decision": "block"}', True),
        (200, b"[]", False),
        (200, b"", False),
        (200, b"<html>", False),
        (201, b"{}", False),
        (500, b"{}", False),
        (0, b"{}", False),
    ],
)
def test_a_hook_passes_on_a_whole_answer_and_nothing_else(
    status: int, body: bytes, passes: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    caller: list[Message] = []

    async def inner(_scope: Scope, _receive: Any, send: Any) -> None:
        if status:
            await send({"type": "http.response.start", "status": status})
        for cut in (body[:1], body[1:]):
            await send({"type": "http.response.body", "body": cut, "more_body": True})

    async def send(message: Message) -> None:
        caller.append(message)

    async def receive() -> Message:
        raise AssertionError

    scope: Scope = {"method": "POST", "path": HOOK, "query_string": b"", "headers": []}
    asyncio.run(fail_closed(inner, scope, receive, send))
    start, content = caller
    headers = dict(start["headers"])
    assert start["status"] == 200
    assert (headers[b"checkrail-hook"], headers[b"connection"]) == (b"1", b"close")
    assert headers[b"cache-control"] == b"no-store"
    assert (content["body"] == body) == passes
    if not passes:
        assert b'"deny"' in content["body"]
        assert headers[b"checkrail-trouble"] == b"unavailable"


def test_a_wait_that_cannot_be_read_is_told_further_in_and_in_time() -> None:
    """How long the host is held must not depend on what it says wrongly."""
    caller: list[Message] = []

    async def inner(_scope: Scope, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b'{"ok": true}'})

    async def send(message: Message) -> None:
        caller.append(message)

    async def receive() -> Message:
        raise AssertionError

    for query in (b"wait=soon", b"wait=-1", b"wait=99999"):
        caller.clear()
        scope: Scope = {"method": "POST", "path": HOOK, "query_string": query}
        asyncio.run(fail_closed(inner, scope, receive, send))
        assert caller[1]["body"] == b'{"ok": true}'
    assert Recorder().parse() is None
