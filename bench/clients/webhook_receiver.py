"""A receiver of webhooks that fails now and then, and checks every signature."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from time import perf_counter

from standardwebhooks import Webhook, WebhookVerificationError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
BROKEN = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
# What becomes of the first attempts of every third event: an error, an overload, and a
# connection that breaks although the event was taken.
FAILURES = (BROKEN, b"", BUSY)


@dataclass(slots=True)
class UnsteadyReceiver:
    """`first` is when each run's event first came, `seen` how often each id did."""

    secret: str = ""
    steady: bool = True
    attempts: Counter[str] = field(default_factory=Counter)
    bodies: dict[str, bytes] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    arrivals: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while reply := self._reply(*await _read_request(reader)):
                writer.write(reply)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # cancelled: the measurement is over
        finally:
            writer.close()

    def _reply(self, headers: dict[str, str], body: bytes) -> bytes:
        name = headers["webhook-id"]
        self.attempts[name] += 1
        if self.bodies.setdefault(name, body) != body:
            self.faults.append(f"{name} changed")
        try:
            Webhook(self.secret).verify(body, headers)
        except WebhookVerificationError as error:
            self.faults.append(f"{name}: {error}")
        document = json.loads(body)
        self.arrivals.setdefault(document["data"]["run"], perf_counter())
        sequence: int = document["sequence"]
        if not self.steady and sequence % 3 == 0 and self.attempts[name] == 1:
            return FAILURES[sequence // 3 % 3]
        self.accepted[name] = sequence
        return OK


async def _read_request(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    headers = {
        name.lower(): value
        for name, value in (line.split(": ", 1) for line in head.split("\r\n")[1:-2])
    }
    return headers, await reader.readexactly(int(headers["content-length"]))
