"""Heads that a connection has sent before: what is read off them, and when not."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test.utils import override_settings
from hypothesis import given
from hypothesis import strategies as st

from common.responses import Reply
from config.fastpath.asgi import INDEX, build_json_messages
from config.server.http_protocol import Phase
from config.server.known_heads import LIMIT, KnownHead, find_body
from tests.config.server.known_heads import HEAD, Line, post
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges connections, not what is stored")


@contextmanager
def connect(**given: Any) -> Iterator[Line]:
    line = Line(**given)
    try:
        yield line
    finally:
        line.end()


async def test_a_head_is_read_once() -> None:
    with connect() as line:
        said = {line.learn().transport.written}
        for body in (b"54321", b"1", b"x" * 1_234):
            line.send(post(body))
            assert (line.protocol.phase, line.others.waiting) == (Phase.ANSWER, False)
            said.add(line.answer())
            assert (line.protocol.phase, line.others.waiting) == (Phase.IDLE, True)
            assert line.protocol.timeout_keep_alive_task is not None
        assert line.taken == [b"12345", b"54321", b"1", b"x" * 1_234]
        assert (line.read, len(said)) == (1, 1)
        assert line.protocol.server_state.total_requests == 4
        assert not line.asked


@each_row(
    ("status", "body"),
    [(201, "{}"), (200, '{"a":"é"}'), (201, '"' + "x" * 70_000 + '"')],
)
async def test_replies_are_written_as_uvicorn_writes_them(
    status: int, body: str
) -> None:
    heard = []
    for quiet in (True, False):
        for keep_alive in (True, False):
            with connect() as line:
                line.protocol._is_quiet = quiet
                line.send(post(b"1"))
                line.protocol.cycle.keep_alive = keep_alive
                heard.append(line.answer(body, status=status))
                assert line.transport.closed is not keep_alive
    assert heard[:2] == heard[2:]
    assert b"\r\nconnection: close\r\n" in heard[1]
    assert heard[0] == heard[1].replace(b"connection: close\r\n", b"")
    assert heard[0].endswith(b"\r\n\r\n" + body.encode())
    assert b"\r\ndate: today\r\nserver: ours\r\n" in heard[0]


@each_row(
    ("head", "asked"),
    [
        (HEAD.replace(b"/r1/", b"/r2/"), []),
        (HEAD.replace(b"Host", b"host"), []),
        (HEAD.replace(b"\r\n\r\n", b"\r\nX-More: 1\r\n\r\n"), []),
        (HEAD.replace(b"/steps", b"/turns"), [b"67"]),
    ],
)
async def test_another_head_is_read(head: bytes, asked: list[bytes]) -> None:
    with connect() as line:
        line.learn().send(post(b"67", head))
        assert line.read == 2
        await line.rest()
        assert [body for _, body in line.asked] == asked
        assert line.taken[1:] == ([] if asked else [b"67"])


@each_row(
    ("head", "config"),
    [
        (HEAD.replace(b"1.1", b"1.0"), {}),
        (HEAD.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), {}),
        (HEAD.replace(b"Length: ", b"Length:  "), {}),
        (HEAD.replace(b"Length: ", b"Length: 0"), {}),
        (HEAD.replace(b"\r\n\r\n", b"\r\nX: " + b"x" * 9_000 + b"\r\n\r\n"), {}),
        (HEAD, {"limit_concurrency": 10}),
        (HEAD, {"welcome": False}),
    ],
)
async def test_what_is_unusual_is_not_remembered(
    head: bytes, config: dict[str, Any]
) -> None:
    with connect(**config) as line:
        line.learn(head=head)
        assert line.taken == [b"12345"]
        assert not line.protocol._known


async def test_where_requests_are_logged_each_of_them_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="uvicorn.access")
    with connect() as line:
        line.learn().learn()
        assert (line.read, len(caplog.messages)) == (2, 2)


async def test_a_key_that_is_not_known_any_more_is_asked_about() -> None:
    with connect() as line:
        line.learn()
        line.taker.admits = False
        line.send(post(b"1"))
        assert line.read == 2


async def test_a_step_that_is_not_taken_goes_the_usual_way() -> None:
    with connect() as line:
        line.learn()
        line.taker.takes = False
        line.send(post(b"what is wrong?"))
        await line.rest()
        assert [body for _, body in line.asked] == [b"what is wrong?"]
        assert b"asked" in line.transport.written
        line.taker.takes = True
        line.learn()
        assert line.read == 2


async def test_a_step_that_was_taken_may_still_need_the_usual_way() -> None:
    """It is told the same as a request that the parser has read."""
    with connect() as line:
        for size in (5, 77):
            line.send(post(b"x" * size))
            line.taker.taken[-1][1](None)
            phases = [line.protocol.phase]
            await line.rest()
            phases.append(line.protocol.phase)
            assert phases == [Phase.ANSWER, Phase.IDLE]
        assert line.read == 1
        (parsed, first), (known, second) = line.asked
        assert (first, second) == (b"x" * 5, b"x" * 77)
        assert dict(known["headers"])[b"content-length"] == b"77"
        for scope in (parsed, known):
            headers = scope["headers"]
            scope["headers"] = [
                each for each in headers if each[0] != b"content-length"
            ]
            del scope[INDEX]
        assert parsed == known


async def test_a_refusal_is_written_as_always() -> None:
    messages = build_json_messages(
        status=409, body=b"no", headers=[("Retry-After", "1")]
    )
    with connect() as line:
        said = []
        for _ in range(2):
            line.send(post(b"1"))
            before = len(line.transport.written)
            line.taker.taken[-1][1](messages)
            said.append(line.transport.written[before:])
            assert line.protocol.phase is Phase.IDLE
        assert said[0] == said[1]
        assert said[0].startswith(b"HTTP/1.1 409 Conflict\r\n")
        assert b"\r\nretry-after: 1\r\n" in said[0]
        assert line.read == 1


async def test_a_reply_waits_for_a_client_that_takes_nothing() -> None:
    with connect() as line:
        said = line.learn().transport.written
        line.send(post(b"1"))
        line.protocol.pause_writing()
        assert line.answer() == b""
        for _ in range(3):
            await asyncio.sleep(0)
        line.protocol.resume_writing()
        await line.rest()
        assert line.transport.written == 2 * said


async def test_a_body_may_come_in_pieces() -> None:
    whole = post(b"123456")
    with connect() as line:
        line.learn()
        start = whole.index(b"\r\n\r\n") + 4
        for place in range(start, len(whole)):
            line.send(whole[:place])
            assert (line.protocol.phase, line.others.waiting) == (Phase.BODY, True)
            since = line.protocol._since
            line.send(whole[place : place + 1])
            if place + 1 < len(whole):
                assert line.protocol._since == since
                line.send(whole[place + 1 :])
            line.answer()
        assert line.taken == [b"12345", *[b"123456"] * 6]
        assert line.read == 1
        # Half of a head is not known.
        line.send(whole[: start - 1])
        assert (line.protocol.phase, line.read) == (Phase.HEAD, 2)
        line.send(whole[start - 1 :])
        assert line.taken[-1] == b"123456"


async def test_half_a_body_is_told_408_in_its_time() -> None:
    with override_settings(BODY_TIMEOUT_S=30), connect() as line:
        line.learn().send(post(b"123456")[:-1])
        before, since = len(line.transport.written), line.protocol._since
        closed = []
        for seconds in (35.0, 35.1):
            line.protocol.check(since + seconds)
            closed.append(line.transport.closed)
        assert closed == [False, True]
        assert line.transport.written[before:].startswith(b"HTTP/1.1 408")
        line.protocol.connection_lost(None)
        assert line.taken == [b"12345"]


async def test_requests_before_their_turn_are_read_and_answered_in_order() -> None:
    with connect() as line:
        said = line.learn().transport.written
        line.send(post(b"1"), post(b"2"))  # the second while the first is answered
        assert line.protocol.pipeline
        assert line.answer() == said
        await line.rest()
        assert [body for _, body in line.asked] == [b"2"]
        assert line.read == 2
        line.send(post(b"3") + post(b"4"))  # both at once
        assert (line.taken[-1], line.read) == (b"3", 4)
        line.answer()
        await line.rest()
        line.send(
            post(b"5")[:-1], b"5" + post(b"6")
        )  # the second in a piece of the first
        assert (line.taken[-1], line.read) == (b"5", 6)
        line.answer()
        await line.rest()
        assert [body for _, body in line.asked] == [b"2", b"4", b"6"]
        assert line.learn().read == 6


async def test_bytes_behind_half_a_head_are_of_that_head() -> None:
    """It came while another request was answered; the connection seems idle since then."""
    with connect() as line:
        line.learn().send(post(b"1"), b"GET /x HTTP/1.1\r\nX: ")
        line.answer()
        assert line.protocol.phase is Phase.IDLE
        line.send(post(b"2"))
        await line.rest()
        assert line.taken == [b"12345", b"1"]


async def test_a_server_that_stops_answers_what_it_has_taken() -> None:
    with connect() as line:
        line.learn().send(post(b"1"))
        line.protocol.shutdown()
        closed = [line.transport.closed]
        assert b"\r\nconnection: close\r\n" in line.answer()
        assert [*closed, line.transport.closed] == [False, True]
    with connect() as line:
        line.learn().protocol.shutdown()
        assert line.transport.closed


async def test_a_connection_ends_though_the_parser_reads_the_last_request() -> None:
    """The server was stopped while a body was on its way that was not taken then."""
    with connect() as line:
        line.learn().send(post(b"1")[:-1])
        line.protocol.shutdown()
        line.taker.takes = False
        line.send(b"1")
        await line.rest()
        assert [body for _, body in line.asked] == [b"1"]
        assert b"\r\nconnection: close\r\n" in line.transport.written
        assert line.transport.closed


async def test_what_was_not_taken_is_not_offered_again() -> None:
    with connect() as line:
        line.learn().taker.takes = False
        line.send(post(b"1"))
        await line.rest()
        assert line.taker.offered == [b"12345", b"1"]
        line.taker.takes = True
        line.learn(b"2")
        assert line.taken == [b"12345", b"2"]


async def test_a_connection_is_kept_from_its_last_answer_on() -> None:
    """Also while it is answered, and no longer than it is open."""
    with connect() as line:
        protocol = line.learn().protocol
        seen = []

        def end_timer(seconds: float) -> None:
            timer = protocol.timeout_keep_alive_task
            assert timer is not None
            timer.cancel()
            protocol._since = protocol.loop.time() - seconds
            protocol.timeout_keep_alive_handler()
            again = protocol.timeout_keep_alive_task is not timer
            seen.append((again, line.transport.closed))

        line.send(post(b"1"))
        end_timer(100)
        line.answer()
        end_timer(protocol.timeout_keep_alive - 0.1)
        end_timer(protocol.timeout_keep_alive)
        assert seen == [(True, False), (True, False), (False, True)]
        end_timer(0)  # it is closed, and nobody needs the timer
        assert seen[-1] == (False, True)


async def test_nobody_is_answered_who_has_gone() -> None:
    with connect() as line:
        line.learn().send(post(b"1"))
        line.protocol.connection_lost(None)
        assert line.answer() == b""


async def test_a_few_heads_are_known() -> None:
    heads = [HEAD.replace(b"r1", b"r%d" % each) for each in range(LIMIT + 1)]
    with connect() as line:
        for head in heads + heads[1:]:
            line.learn(head=head)
        assert line.read == len(heads)
        assert line.learn(head=heads[0]).read == len(heads) + 1


@given(st.data())
def test_only_the_length_may_differ(data: st.DataObject) -> None:
    before, behind = HEAD.split(b"%d")
    known = (KnownHead(before, behind, b"", None),)  # type: ignore[arg-type]
    whole = bytearray(HEAD % 17 + b"x" * 17)
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(0, len(whole) - 1))
        piece = data.draw(st.sampled_from([b"", b"0", b"9", b"\r", b"\n", b" ", b"X"]))
        whole[place : place + data.draw(st.integers(0, 2))] = piece
    form = rb"([1-9][0-9]{0,3})".join(map(re.escape, (before, behind)))
    wanted = re.match(form, whole)
    found = find_body(known, bytes(whole))
    if wanted is None:
        assert found is None
    else:
        assert found is not None
        assert found.start == wanted.end()
        assert found.end == wanted.end() + int(wanted[1])


async def test_a_reply_with_headers_of_its_own_has_them() -> None:
    with connect() as line:
        line.learn().send(post(b"1"))
        before = len(line.transport.written)
        line.taker.taken[-1][1](Reply(status=201, body="{}", replayed=True))
        said = line.transport.written[before:]
        assert b"\r\nidempotency-replayed: true\r\n" in said
