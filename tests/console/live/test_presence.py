"""Who reads which review: told to the pages of the project, in one process and in many."""

from __future__ import annotations

import asyncio
import html
import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from console.live import presence as presences
from console.live.presence import Presence, Reading
from console.live.updates import View
from console.people import Person

pytestmark = pytest.mark.once("uses no database")

ONE, TWO = 1, 2
REVIEW = "01900000-0000-7000-8000-000000000001"


@dataclass(eq=False)
class Page:
    project: int = ONE
    error: Exception | None = None
    got: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.view = View(project_id=self.project, name="queue")

    async def push(self, text: str) -> None:
        if self.error is not None:
            raise self.error
        self.got.append(text)

    @property
    def readers(self) -> dict[str, list[str]]:
        """Names by review, as the page was told last."""
        found = re.findall(r'data-readers="([^"]*)"', self.got[-1])
        told = json.loads(html.unescape(found[0]))
        return {
            code: [each["name"] for each in people] for code, people in told.items()
        }


class Layer:
    """What the processes say reaches all of them."""

    def __init__(self) -> None:
        self.processes: list[Presence] = []
        self.told = 0

    async def group_send(self, _group: str, message: dict[str, Any]) -> None:
        self.told += 1
        for each in self.processes:
            each.take(json.loads(json.dumps(message)))

    async def new_channel(self) -> str:
        return "here"

    async def group_add(self, _group: str, _channel: str) -> None: ...

    async def receive(self, _channel: str) -> None:
        await asyncio.Event().wait()


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Layer:
    layer = Layer()
    settings.EMBEDDED = False
    monkeypatch.setattr(presences, "get_channel_layer", lambda: layer)
    monkeypatch.setattr(presences, "COALESCE_SECONDS", 0.001)
    return layer


@pytest.fixture
async def build(layer: Layer) -> AsyncIterator[Callable[[], Presence]]:
    def build() -> Presence:
        layer.processes.append(Presence())
        return layer.processes[-1]

    yield build
    for each in layer.processes:
        await each.stop()


def read(name: str, review: str = REVIEW) -> Reading:
    return Reading(review, 1, Person(code=str(uuid4()), name=name))


async def until(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not check():
            await asyncio.sleep(0.002)


async def test_all_pages_of_the_project_are_told_and_told_when_it_closes(
    build: Callable[[], Presence],
) -> None:
    here, there = build(), build()
    hers, his, foreign = Page(), Page(), Page(project=TWO)
    here.read(hers, None)
    there.read(foreign, None)
    there.read(his, read("bob"))
    await until(lambda: bool(hers.got) and hers.readers == {REVIEW: ["bob"]})
    await until(lambda: bool(foreign.got))
    assert foreign.readers == {}
    there.leave(his)
    await until(lambda: hers.readers == {})


async def test_a_page_that_cannot_be_told_reads_no_more_and_the_log_says_so(
    build: Callable[[], Presence], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger=presences.__name__)
    here, hers = build(), Page()
    here.read(hers, None)
    here.read(Page(error=ConnectionError("gone")), read("bob"))
    await until(lambda: len(hers.got) > 1 and hers.readers == {})
    assert "could not be told who reads what: ConnectionError('gone')" in caplog.text


async def test_a_process_that_is_gone_is_forgotten(
    build: Callable[[], Presence], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presences, "REPEAT_SECONDS", 0.01)
    monkeypatch.setattr(presences, "FORGET_SECONDS", 0.05)
    here, there = build(), build()
    hers = Page()
    here.read(hers, None)
    there.read(Page(), read("bob"))
    await until(lambda: bool(hers.got) and REVIEW in hers.readers)
    await there.stop()
    await until(lambda: hers.readers == {})


async def test_a_claim_is_renewed_while_it_is_read(
    build: Callable[[], Presence], layer: Layer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[Any]] = []
    moment = datetime(2026, 1, 2, tzinfo=UTC)

    def renew(readers: set[Any]) -> list[Any]:
        asked.append(readers)
        return [(ONE, REVIEW, moment)]

    async def run(work: Callable[[], Any]) -> Any:
        return work()

    monkeypatch.setattr(presences, "renew_claims", renew)
    monkeypatch.setattr(presences, "run_in_db_thread", run)
    monkeypatch.setattr(presences, "REPEAT_SECONDS", 0.01)
    here, page = build(), Page()
    here.read(page, read("bob"))
    await until(lambda: bool(asked) and "2026-01-02" in page.got[-1])
    assert {str(code) for _, code in asked[0]} == {REVIEW}
    here.read(page, None)
    count, told = len(asked), layer.told
    # Each round looks at the claims first, then tells the others.
    await until(lambda: layer.told > told + 4)
    assert len(asked) == count
