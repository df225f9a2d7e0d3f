"""A run's ledger as it grows, over server-sent events.

    with httpx.Client(base_url=f"{url}/api/v1", headers=authorization) as client:
        for event in stream_events(client, run):
            print(event.id, event.type, event.data["payload"])

The stream goes on by itself where it was cut: no entry is missed, none comes twice. It
ends with the run. Where it cannot go on it raises, it never ends quietly.
"""

from __future__ import annotations

import codecs
import json
import random
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from checkrail.errors import ProtocolError, Unreachable
from checkrail.transport.responses import Response, parse_problem

MEDIA_TYPE = "text/event-stream"
# The server says something every 15 seconds: three times nothing means a dead line.
TIMEOUT = httpx.Timeout(10, read=45)
PATIENCE_SECONDS = 300.0
PAUSE_MAX_SECONDS = 30.0
_TEMPORARY_STATUSES = frozenset({429, 500, 502, 503, 504})
# Only these end a line; str.splitlines() knows many more.
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Event:
    """One ledger entry: its number, its type, and the entry itself."""

    id: int
    type: str
    data: dict[str, Any]


@dataclass(frozen=True)
class RawEvent:
    """An event as any server may send it."""

    id: str
    type: str
    data: str


class EventParser:
    """Bytes of a text/event-stream in, events out, cut wherever the network cut them."""

    def __init__(self) -> None:
        self.last_event_id = ""
        self.retry_ms: int | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._rest = ""
        self._after_return = False
        self._type = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[RawEvent]:
        """The events that are whole now; what is not waits for the next chunk."""
        text = self._decoder.decode(chunk)
        if self._after_return and text:
            # The end of a line may itself be cut in two.
            self._after_return = False
            text = text.removeprefix("\n")
        *lines, self._rest = _LINE_END.split(self._rest + text)
        if text:
            self._after_return = text.endswith("\r")
        for line in lines:
            event = self._read_line(line)
            if event is not None:
                yield event

    def _read_line(self, line: str) -> RawEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._type = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self.last_event_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = int(value)
        return None  # a comment, or a field from the future

    def _dispatch(self) -> RawEvent | None:
        kind, data = self._type or "message", self._data
        self._type, self._data = "", []
        if not data:
            return None
        return RawEvent(id=self.last_event_id, type=kind, data="\n".join(data))


def stream_events(
    client: httpx.Client,
    run: str,
    *,
    after: int = 0,
    patience: float | None = PATIENCE_SECONDS,
) -> Iterator[Event]:
    """Every entry of the run after this one, as it comes, until the run is over.

    The client has the server's `/api/v1` for its base, and the key in its headers.
    `patience` seconds without a word from the server raise `Unreachable`; with None it
    it waits without end. A refusal (401, 404, 422) is raised at once.
    """
    course = _StreamReader(run, after, patience)
    while not course.ended:
        try:
            with client.stream(
                "GET", course.path, **course.build_request()
            ) as response:
                if not course.accept(response):
                    course.handle_refusal(response, response.read())
                for chunk in response.iter_bytes():
                    yield from course.read_chunk(chunk)
        except httpx.TransportError as error:
            course.handle_failure(error)
        if not course.ended:
            time.sleep(course.get_pause())


async def astream_events(
    client: httpx.AsyncClient,
    run: str,
    *,
    after: int = 0,
    patience: float | None = PATIENCE_SECONDS,
) -> AsyncIterator[Event]:
    """The same, for programs that do other things meanwhile."""
    import anyio  # comes with httpx, and only programs like these need it

    course = _StreamReader(run, after, patience)
    while not course.ended:
        try:
            async with client.stream(
                "GET", course.path, **course.build_request()
            ) as response:
                if not course.accept(response):
                    course.handle_refusal(response, await response.aread())
                async for chunk in response.aiter_bytes():
                    for event in course.read_chunk(chunk):
                        yield event
        except httpx.TransportError as error:
            course.handle_failure(error)
        if not course.ended:
            await anyio.sleep(course.get_pause())


class _StreamReader:
    """The position in a stream, and when to try again; without I/O."""

    def __init__(self, run: str, after: int, patience: float | None) -> None:
        self.path = f"/runs/{quote(run, safe='')}/events"
        self.ended = False
        self._last = after
        self._patience = patience
        self._parser = EventParser()
        self._retry_ms = 2_000
        self._retry_after = 0.0
        self._failures = 0
        self._heard_at = time.monotonic()

    def build_request(self) -> dict[str, Any]:
        self._parser = EventParser()
        headers = {"Accept": MEDIA_TYPE, "Cache-Control": "no-store"}
        if self._last:
            headers["Last-Event-ID"] = str(self._last)
        return {"headers": headers, "timeout": TIMEOUT}

    def accept(self, response: httpx.Response) -> bool:
        """Whether events follow. A 204 ends the stream for good."""
        if response.status_code == httpx.codes.NO_CONTENT:
            self.ended = True
        elif response.status_code != httpx.codes.OK:
            return False
        elif not response.headers.get("Content-Type", "").startswith(MEDIA_TYPE):
            raise ProtocolError(f"{response.url} answers something else than events.")
        return True

    def handle_refusal(self, response: httpx.Response, body: bytes) -> None:
        answer = Response(response.status_code, response.headers, body)
        problem = parse_problem(answer)
        if response.status_code not in _TEMPORARY_STATUSES:
            raise problem
        self._retry_after = answer.retry_after or 0.0
        self.handle_failure(problem)

    def read_chunk(self, chunk: bytes) -> Iterator[Event]:
        self._failures, self._retry_after = 0, 0.0
        self._heard_at = time.monotonic()
        for raw in self._parser.feed(chunk):
            if raw.type == "end":
                self.ended = True
            elif raw.id.isascii() and raw.id.isdigit() and int(raw.id) > self._last:
                event = Event(
                    id=int(raw.id), type=raw.type, data=_parse_entry(raw.data)
                )
                self._last = event.id
                yield event
        if self._parser.retry_ms is not None:
            self._retry_ms = self._parser.retry_ms

    def handle_failure(self, error: Exception) -> None:
        """Count the failure; raise once the caller's patience is over."""
        silent = time.monotonic() - self._heard_at
        if self._patience is not None and silent > self._patience:
            if isinstance(error, Unreachable):
                raise error
            raise Unreachable(f"No events for {silent:.0f} s: {error}") from error
        self._failures += 1

    def get_pause(self) -> float:
        """Longer after each failure, and never all readers at the same moment."""
        wait: float = self._retry_ms / 1000 * 2 ** min(max(self._failures - 1, 0), 10)
        wait = max(min(wait, PAUSE_MAX_SECONDS), self._retry_after)
        return wait * random.uniform(0.8, 1.2)  # noqa: S311 (not a secret)


def _parse_entry(text: str) -> dict[str, Any]:
    try:
        entry = json.loads(text)
    except ValueError as error:
        raise ProtocolError(f"An event is no JSON: {error}") from None
    if not isinstance(entry, dict):
        raise ProtocolError("An event is no ledger entry.")
    return entry
