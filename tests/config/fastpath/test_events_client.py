"""The client's reader of events: the format as specified, and lines that break."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest
from checkrail.errors import ProtocolError, Unreachable
from checkrail.problems import Invalid, NotFound, Unauthenticated, Unavailable
from checkrail.streaming import (
    MEDIA_TYPE,
    Event,
    EventParser,
    RawEvent,
    astream_events,
    stream_events,
)

from gateway.streams import events
from tests.config.fastpath.streams import ledger
from tests.support.builders import Robot, start_run, step
from tests.support.live import Live

pytestmark = pytest.mark.once("judges requests and answers, not what is stored")

# What the HTML standard says of each, sections 9.2.5 and 9.2.6.
WRITTEN = {
    "two lines": (
        b"data: YHOO\ndata: +2\ndata: 10\n\n",
        [("", "message", "YHOO\n+2\n10")],
    ),
    "comments, ids, an empty data": (
        b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
        b"data:  third event\n\n",
        [
            ("1", "message", "first event"),
            ("", "message", "second event"),
            ("", "message", " third event"),
        ],
    ),
    "empty data": (
        b"data\n\ndata\ndata\n\ndata:",
        [("", "message", ""), ("", "message", "\n")],
    ),
    "a space or none": (b"data:test\n\ndata: test\n\n", [("", "message", "test")] * 2),
    "all line ends": (
        b"data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\r",
        [("", "message", "a\nb\nc"), ("", "message", "d")],
    ),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("", "message", "a")]),
    "not ended": (b"data: a\n", []),
    "a type without data": (b"event: x\n\ndata: a\n\n", [("", "message", "a")]),
    "a type": (
        b"event: x\ndata: a\n\ndata: b\n\n",
        [("", "x", "a"), ("", "message", "b")],
    ),
    "other ends of lines": (
        "data: a\u2028b\u0085c\x0bd\n\n".encode(),
        [("", "message", "a\u2028b\u0085c\x0bd")],
    ),
    "not UTF-8": (b"data: \xff\n\n", [("", "message", "\ufffd")]),
    "an id with NUL": (b"id: 1\nid: 2\0\ndata: a\n\n", [("1", "message", "a")]),
    "unknown fields": (b"foo: 1\nData: 2\ndata: a\n\n", [("", "message", "a")]),
}


def test_the_format_is_read_as_specified_wherever_it_is_cut() -> None:
    for what, (raw, expected) in WRITTEN.items():
        for size in (1, 2, 3, 7, len(raw)):
            parser = EventParser()
            chunks = [raw[at : at + size] for at in range(0, len(raw), size)]
            found = [event for chunk in chunks for event in parser.feed(chunk)]
            assert found == [RawEvent(*one) for one in expected], (what, size)


def test_only_digits_are_a_time_to_wait() -> None:
    parser = EventParser()
    for raw, expected in (
        (b"retry: x\n", None),
        (b"retry: 12\n", 12),
        (b"retry: 1e3\n", 12),
    ):
        assert list(parser.feed(raw)) == []
        assert parser.retry_ms == expected


class Cut(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that breaks off after so many bytes, as lines do."""

    def __init__(self, inner: Any, length: int) -> None:
        self._inner = inner
        self._left = length

    def _part(self, chunk: bytes) -> bytes:
        part = chunk[: self._left]
        self._left -= len(part)
        return part

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            yield self._part(chunk)
            if not self._left:
                raise httpx.ReadError("cut")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            yield self._part(chunk)
            if not self._left:
                raise httpx.ReadError("cut")

    def close(self) -> None:
        self._inner.close()

    async def aclose(self) -> None:
        await self._inner.aclose()


class Flaky(httpx.HTTPTransport):
    """Every third attempt fails, every other answer breaks off somewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.headers.get("Last-Event-ID"))
        if len(self.asked) % 3 == 2:
            raise httpx.ConnectError("no line")
        if len(self.asked) == 4:
            return httpx.Response(503, headers={"Retry-After": "0"})
        answer = super().handle_request(request)
        answer.stream = Cut(answer.stream, 1_000 * len(self.asked))
        return answer


class AsyncFlaky(httpx.AsyncHTTPTransport):
    length = 1_000

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        self.length *= 2
        answer.stream = Cut(answer.stream, self.length)
        return answer


@pytest.fixture
def finished(agent: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(events, "RETRY_MS", 1)
    run = start_run(agent, task="Rename “naïve”")
    for number in range(1, 8):
        agent.post(f"/runs/{run}/steps", json=step(number))
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    return run


def as_told(agent: httpx.Client, run: str) -> list[Event]:
    return [
        Event(id=entry["seq"], type=entry["type"], data=entry)
        for entry in ledger(agent, run)
    ]


def test_a_broken_line_costs_nothing(
    live: Live, robo: Robot, agent: httpx.Client, finished: str
) -> None:
    flaky = Flaky()
    with httpx.Client(
        base_url=live.api, headers=robo.headers, transport=flaky
    ) as client:
        heard = list(stream_events(client, finished))

    assert heard == as_told(agent, finished)
    assert list(stream_events(agent, finished, after=8)) == heard[8:]
    assert len(flaky.asked) > 5
    assert flaky.asked[0] is None


async def test_the_same_for_async_programs(
    live: Live, robo: Robot, agent: httpx.Client, finished: str
) -> None:
    async with httpx.AsyncClient(
        base_url=live.api, headers=robo.headers, transport=AsyncFlaky()
    ) as client:
        heard = [event async for event in astream_events(client, finished)]

    assert heard == as_told(agent, finished)


def test_an_entry_that_is_sent_again_comes_once() -> None:
    sent = [f"id: {number}\nevent: x\ndata: {{}}\n\n" for number in (1, 1, 2, 1)]
    body = "".join([*sent, "event: end\ndata: {}\n\n"])
    answer = httpx.Response(200, headers={"Content-Type": MEDIA_TYPE}, content=body)
    transport = httpx.MockTransport(lambda _request: answer)
    with httpx.Client(transport=transport, base_url="http://checkrail.test") as client:
        assert [event.id for event in stream_events(client, "run")] == [1, 2]


def test_a_refusal_is_raised_and_never_taken_for_an_end(
    live: Live, agent: httpx.Client, finished: str
) -> None:
    with pytest.raises(Invalid, match="Last-Event-ID"):
        next(stream_events(agent, finished, after=99))
    with pytest.raises(NotFound):
        next(stream_events(agent, "no/such run"))
    with httpx.Client(base_url=live.api) as stranger, pytest.raises(Unauthenticated):
        next(stream_events(stranger, finished))


async def test_silence_is_borne_for_as_long_as_was_asked() -> None:
    def no_line(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no line")

    def later(request: httpx.Request) -> httpx.Response:
        return httpx.Response(503, text="<html>")

    def page(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, html="<html>")

    def nothing(request: httpx.Request) -> httpx.Response:
        return httpx.Response(204)

    def over(answer: Callable[[httpx.Request], httpx.Response]) -> dict[str, Any]:
        return {"transport": httpx.MockTransport(answer), "base_url": "http://x"}

    for answer, error in ((no_line, Unreachable), (later, Unavailable)):
        with httpx.Client(**over(answer)) as client, pytest.raises(error):
            next(stream_events(client, "r", patience=-1))
        async with httpx.AsyncClient(**over(answer)) as many:
            with pytest.raises(error):
                await anext(astream_events(many, "r", patience=-1))
    with httpx.Client(**over(page)) as client, pytest.raises(ProtocolError):
        next(stream_events(client, "r"))
    with httpx.Client(**over(nothing)) as client:
        assert list(stream_events(client, "r")) == []
