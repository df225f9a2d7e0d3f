"""What agents and people do to the queue over the API: reviews come, are claimed and ruled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from bench.clients.connection import build_request, connect
from bench.servers.contents import PreparedRun
from bench.servers.launch import Server

KINDS = ("new review", "claim", "ruling")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedReview:
    code: str
    version: int
    digest: str


class Changes:
    """Makes one change at a time; each run asks once."""

    def __init__(self, server: Server, runs: Sequence[PreparedRun]) -> None:
        self._server = server
        self._runs = iter(runs)
        self._opened: OpenedReview | None = None
        self._kinds = cycle(KINDS)

    async def make_next(self) -> str:
        """A new review, its claim, its ruling, and so on; which review it was."""
        match next(self._kinds):
            case "new review":
                self._opened = await self._ask_person(next(self._runs))
            case "claim":
                await self._post_as_person("claim")
            case _:
                assert self._opened is not None
                seen = {
                    "version": self._opened.version,
                    "content_digest": self._opened.digest,
                }
                await self._post_as_person("ruling", action="approve", **seen)
        assert self._opened is not None
        return self._opened.code

    async def _ask_person(self, run: PreparedRun) -> OpenedReview:
        body = {
            "kind": "request",
            "title": f"May run {run.code[-6:]} publish its result?",
            "detail": "All tests pass, and the change is small.",
        }
        made = await self._post(f"/runs/{run.code}/reviews", run.key, body)
        return OpenedReview(
            code=made["id"], version=made["version"], digest=made["content_digest"]
        )

    async def _post_as_person(self, act: str, **body: object) -> None:
        assert self._opened is not None
        path = f"/reviews/{self._opened.code}/{act}"
        await self._post(path, self._server.contents.token, body)

    async def _post(self, path: str, secret: str, body: object) -> dict[str, Any]:
        ask = build_request(
            "POST",
            path,
            url=self._server.url,
            secret=secret,
            body=json.dumps(body).encode(),
        )
        # A connection of its own: one that waits between two changes is closed.
        connection = await connect(self._server.url)
        answer = await connection.ask(ask)
        connection.close()
        if answer.status not in (200, 201):
            raise RuntimeError(f"{path} got {answer}")
        found: dict[str, Any] = json.loads(answer.body)
        return found


async def make_burst(
    server: Server, runs: Sequence[PreparedRun], *, count: int, at_once: int
) -> None:
    """So many changes as fast as they are taken, over so many connections at once."""
    numbers: Iterator[int] = iter(range(count))
    each = len(runs) // at_once

    async def work(place: int) -> None:
        changes = Changes(server, runs[place * each :][:each])
        for _ in numbers:
            await changes.make_next()

    await asyncio.gather(*(work(place) for place in range(at_once)))
