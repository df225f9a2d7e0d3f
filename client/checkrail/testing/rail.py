"""The fake itself: the network, the clock and the record of what was sent."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl

import httpx

from checkrail.testing.fakes import Refusal
from checkrail.testing.routes import answer_request
from checkrail.testing.scripts import Scripted
from checkrail.testing.server import FakeServer, Word
from checkrail.testing.shapes import (
    AT,
    Json,
    build_problem,
    build_waiting_note,
    make_id,
)
from checkrail.transport.connection import API, StandIn, stand_ins

Trouble = int | httpx.Response | Exception


@dataclass(frozen=True)
class Sent:
    """One request that reached the fake."""

    method: str
    path: str
    body: Json
    headers: dict[str, str]


class FakeTransport(httpx.MockTransport):
    """Others have their turn meanwhile, as they have while a network works."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0)
        return await super().handle_async_request(request)


class FakeRail:
    """Stands in for the server: see `fake_checkrail`."""

    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.requests: list[Sent] = []
        self.slept: list[float] = []
        self.transport = FakeTransport(self._answer)
        self._answers: dict[str, tuple[bytes, httpx.Response]] = {}
        self._troubles: list[Trouble] = []
        self._cut = False

    @property
    def runs(self) -> list[Json]:
        """The runs as they stand, in the order they were started."""
        return [run.build_answer() for run in self.server.runs.values()]

    @property
    def steps(self) -> list[Json]:
        """The steps that were taken, of all runs, as they were reported."""
        runs = self.server.runs.values()
        return [body for run in runs for body, _ in run.steps.values()]

    def sent(self, method: str, ending: str) -> list[Json]:
        """The bodies of all requests to addresses that end so."""
        return [
            request.body
            for request in self.requests
            if request.method == method and request.path.endswith(ending)
        ]

    def tell(self, text: str, *, by: str = "alice", tags: Sequence[str] = ()) -> str:
        """A person writes to the agent of the newest run; its next answer has it."""
        run = list(self.server.runs.values())[-1]
        note = {**build_waiting_note(text), "by": by, "tags": list(tags)}
        run.notes.append(note)
        code: str = note["id"]
        return code

    def halt(
        self, reason: str, *, by: str = "alice", released_after: float = math.inf
    ) -> str:
        """A person halts everything; it is released by `release()`, or after so many
        seconds of the fake's own time."""
        halt = {"id": make_id(), "reason": reason, "by": by, "at": AT}
        self.server.begin_halt(halt, lasts=released_after)
        return halt["id"]

    def release(self) -> None:
        self.server.end_halt()

    def cut(self) -> None:
        """The network is gone until `mend()`."""
        self._cut = True

    def mend(self) -> None:
        self._cut = False

    def trouble(self, *troubles: Trouble) -> None:
        """The next requests fail: by a status such as 503, a response, or an error."""
        self._troubles += troubles

    def clock(self) -> float:
        return self.server.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.server.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)
        await asyncio.sleep(0)

    def build_stand_in(self) -> StandIn:
        return StandIn(
            transport=self.transport,
            async_transport=self.transport,
            clock=self.clock,
            sleep=self.sleep,
            async_sleep=self.sleep_async,
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = _parse_body(request)
        path = request.url.path.removeprefix(API)
        self.requests.append(Sent(request.method, path, body, dict(request.headers)))
        if self._cut:
            raise httpx.ConnectError("The network is cut", request=request)
        if self._troubles:
            trouble = self._troubles.pop(0)
            if isinstance(trouble, Exception):
                raise trouble
            if isinstance(trouble, httpx.Response):
                return trouble
            return _build_response(
                trouble, build_problem("unavailable", trouble, "Scripted trouble.")
            )
        key = request.headers.get("idempotency-key")
        if key is None or request.method != "POST":
            return self._enter(request, path, body)
        return self._answer_once(key, request, path, body)

    def _answer_once(
        self, key: str, request: httpx.Request, path: str, body: Json
    ) -> httpx.Response:
        """The same key and request again: the same answer. A refusal leaves no record."""
        known = self._answers.get(key)
        if known is None:
            answer = self._enter(request, path, body)
            if answer.status_code < 400:
                self._answers[key] = (path.encode() + request.content, answer)
            return answer
        if known[0] != path.encode() + request.content:
            reuse = "The key was sent before with another request."
            return _build_response(
                422, build_problem("idempotency-key-reuse", 422, reuse)
            )
        return httpx.Response(
            known[1].status_code,
            content=known[1].content,
            headers={**known[1].headers, "Idempotency-Replayed": "true"},
        )

    def _enter(self, request: httpx.Request, path: str, body: Json) -> httpx.Response:
        try:
            status, answer = answer_request(self.server, request.method, path, body)
        except Refusal as refusal:
            return _build_response(refusal.status, refusal.body)
        return _build_response(status, answer)


def _parse_body(request: httpx.Request) -> Json:
    if request.method == "GET":
        return dict(parse_qsl(request.url.query.decode()))
    return dict(json.loads(request.content or b"{}"))


def _build_response(status: int, body: Json) -> httpx.Response:
    kind = "application/problem+json" if status >= 400 else "application/json"
    return httpx.Response(
        status, content=json.dumps(body).encode(), headers={"Content-Type": kind}
    )


@contextmanager
def fake_checkrail(
    *,
    decisions: Iterable[Word] = (),
    calls: Iterable[Word] = (),
    turns: Iterable[Word] = (),
    rulings: Iterable[Scripted] = (),
    prices: Mapping[str, Mapping[str, str]] | None = None,
) -> Iterator[FakeRail]:
    """Every `Checkrail()` and `AsyncCheckrail()` made in the block talks to this fake.

    `decisions`, `calls` and `turns` are words in the order they are asked for, or dicts
    with the fields of the answer: `{"decision": "throttle", "delay_ms": 500}`. `rulings`
    are what people say, one for each time they are asked. `prices` are the policy's, by
    model: `{"some-model": {"input_usd": "2.50", "output_usd": "10.00"}}`.
    """
    server = FakeServer(
        decisions=decisions,
        calls=calls,
        turns=turns,
        rulings=rulings,
        prices=prices or {},
    )
    rail = FakeRail(server)
    stand_in = rail.build_stand_in()
    stand_ins.append(stand_in)
    try:
        yield rail
    finally:
        stand_ins.remove(stand_in)
