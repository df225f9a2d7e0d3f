"""Stand-ins for language models: real HTTP servers that speak both formats."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from django.test.utils import override_settings

from gateway.llm import client

KEY = "key-of-the-stand-in-0123456789"
PRICES = (2_500_000, 10_000_000)
FORMATS = ("openai", "anthropic")

HANGING_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def user(self) -> str:
        (message,) = [m for m in self.body["messages"] if m["role"] == "user"]
        text: str = message["content"]
        return text

    @property
    def system(self) -> str:
        text: str = self.body.get("system") or self.body["messages"][0]["content"]
        return text

    @property
    def criteria(self) -> list[str]:
        head = self.user.partition("\n\n")[0]
        return [json.loads(line) for line in re.findall(r"^\d+\. (.*)$", head, re.M)]


Behaviour = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Model:
    """Behaves in turn as it was told; the last way again and again."""

    behaviours: list[Behaviour]
    asked: list[Asked] = field(default_factory=list)
    most_at_once: int = 0
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.most_at_once = max(self.most_at_once, len(self._tasks))
        try:
            asked = await _receive(reader)
            turn = min(len(self.asked), len(self.behaviours) - 1)
            self.asked.append(asked)
            await self.behaviours[turn](asked, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def end(self) -> None:
        rest = list(self._tasks)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


async def _receive(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    headers = {
        name.lower(): value for name, value in (line.split(": ", 1) for line in lines)
    }
    raw = await reader.readexactly(int(headers["content-length"]))
    return Asked(path=first.split()[1], headers=headers, body=json.loads(raw))


@asynccontextmanager
async def model(
    wire: str,
    *behaviours: Behaviour,
    timeout_s: float = 60,
    pause_s: float = 0.02,
    **more: Any,
) -> AsyncIterator[Model]:
    """A model that is set up to be asked, and again soon, as long as the block lasts."""
    stand_in = Model(list(behaviours))
    server = await asyncio.start_server(stand_in.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    chosen = {
        "url": f"http://127.0.0.1:{port}/ask?version=1",
        "format": wire,
        "model": "stand-in",
        "key": KEY,
        "timeout_s": timeout_s,
        "prices": PRICES,
        **more,
    }
    try:
        soon = patch.object(client, "REPEAT_AFTER_S", pause_s)
        with override_settings(LLM=chosen), soon:
            yield stand_in
    finally:
        server.close()
        await stand_in.end()
        await server.wait_closed()


def envelope(wire: str, text: str, **changes: Any) -> dict[str, Any]:
    """A reply with this text, as such a server sends it."""
    if wire == "anthropic":
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "stand-in-1",
            "content": [
                {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"},
                {"type": "text", "text": text},
            ],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": 90,
                "cache_creation_input_tokens": 10,
                "cache_read_input_tokens": None,
                "output_tokens": 7,
            },
            **changes,
        }
    message = {"role": "assistant", "content": text, "refusal": None}
    message |= changes.pop("message", {})
    finish = changes.pop("finish_reason", "stop")
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "stand-in-1",
        "choices": [choice],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
        **changes,
    }


def refusal(wire: str) -> dict[str, Any]:
    if wire == "anthropic":
        return envelope(wire, "I would rather not.", stop_reason="refusal")
    return envelope(wire, "", message={"content": None, "refusal": "I cannot."})


def cut_off(wire: str, text: str) -> dict[str, Any]:
    if wire == "anthropic":
        return envelope(wire, text, stop_reason="max_tokens")
    return envelope(wire, text, finish_reason="length")


def http(
    content: bytes | dict[str, Any] = b"",
    *,
    status: int = 200,
    kind: str = "application/json",
    **headers: str,
) -> Behaviour:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    fields = {"content-type": kind, "content-length": str(len(raw))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(_head(status, fields) + raw)
        await writer.drain()

    return behave


def says(wire: str, text: str) -> Behaviour:
    return http(envelope(wire, text))


def answer(passed: Iterable[bool], *, rationale: str = "Seen.") -> str:
    """The judge's answer, complete and in its form."""
    entries = [
        {"index": number, "passed": one, "rationale": rationale}
        for number, one in enumerate(passed, 1)
    ]
    return json.dumps({"criteria": entries})


def judges(wire: str, *, met: Iterable[str], rationale: str = "Seen.") -> Behaviour:
    """An honest judge for whom these criteria are met, and no others."""
    known = set(met)

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        found = [criterion in known for criterion in asked.criteria]
        await says(wire, answer(found, rationale=rationale))(asked, writer)

    return behave


def replies(wire: str, reply: Callable[[Asked], str]) -> Behaviour:
    """A judge that makes its answer from all that it was sent."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await says(wire, reply(asked))(asked, writer)

    return behave


async def hangs(asked: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(HANGING_SECONDS)


async def drips(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A byte now and then, always sooner than any time-out for reading."""
    writer.write(_head(200, {"content-type": "application/json"}))
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def hangs_up(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def breaks_off(asked: Asked, writer: asyncio.StreamWriter) -> None:
    fields = {"content-type": "application/json", "content-length": "1000"}
    writer.write(_head(200, fields) + b'{"half":')
    await writer.drain()


def _head(status: int, fields: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} So", "connection: close"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
