"""The broadcaster by itself: slow and broken sockets, lost nudges, and its own end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from console.live import broadcaster as broadcasting
from console.live import consumers
from console.live.broadcaster import Broadcaster
from tests.console.live.stage import ONE, TWO, Page, World, has_reached, settle, until

pytestmark = pytest.mark.once("uses no database")


async def test_a_slow_page_holds_up_nobody_and_is_served_from_its_own_place(
    here: Broadcaster, world: World
) -> None:
    slow, quick = Page(), Page()
    here.join(slow)
    here.join(quick)
    await settle(here)
    slow.gate.clear()
    for position in (1, 2, 3):
        world.positions[ONE] = position
        here.nudge([ONE])
        await until(partial(has_reached, quick, position))
    assert quick.got == ["0 to 1", "1 to 2", "2 to 3"]
    assert slow.got == []
    slow.gate.set()
    await until(lambda: slow.since == 3)
    assert slow.got == ["0 to 1", "1 to 3"]


async def test_a_page_that_is_gone_is_let_go_and_the_others_go_on(
    here: Broadcaster, world: World
) -> None:
    gone, there = Page(error=ConnectionError("gone")), Page()
    here.join(gone)
    here.join(there)
    await settle(here)
    world.positions[ONE] = 1
    here.nudge([ONE])
    await until(lambda: there.since == 1)
    await until(lambda: here._list_listeners() == [there])
    assert (gone.since, gone.sending) == (0, False), "it comes back with its cursor"


async def test_a_page_that_takes_nothing_is_let_go(
    here: Broadcaster, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcasting, "SEND_SECONDS", 0.01)
    stuck = Page()
    stuck.gate.clear()
    here.join(stuck)
    world.positions[ONE] = 1
    here.nudge([ONE])
    await until(lambda: not here._list_listeners())
    assert not stuck.sending
    assert here._sent_positions == {}


async def test_trouble_while_reading_is_over_with_the_next_nudge(
    here: Broadcaster, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    page = Page()
    here.join(page)
    await settle(here)
    world.positions[ONE] = 1
    world.trouble = [OSError("away")]
    here.nudge([ONE])
    await settle(here)
    assert page.got == []
    assert "could not be sent" in caplog.text
    here.nudge([ONE])
    await until(lambda: page.got)


async def test_each_project_hears_of_its_own_and_no_other_is_read(
    here: Broadcaster, world: World
) -> None:
    one, two = Page(), Page(project=TWO)
    here.join(one)
    here.join(two)
    await settle(here)
    world.wanted.clear()
    world.positions |= {ONE: 5, TWO: 7}
    here.nudge([TWO, 99])
    await until(lambda: two.since == 7)
    await settle(here)
    assert (one.got, one.since) == ([], 0)
    assert {project for asked in world.wanted for project, _ in asked} == {TWO}
    here.leave(two)
    assert set(here._listeners) == {ONE}
    here.leave(two)  # twice does no harm
    world.wanted.clear()
    here.nudge([TWO])
    await settle(here)
    assert world.wanted == []


async def test_a_lost_nudge_is_found_by_looking_again(
    here: Broadcaster, world: World
) -> None:
    here._recheck_seconds = 0.001
    await here._recheck()
    assert world.looks == 0, "nobody looks on: nothing is asked"
    behind, level = Page(), Page(project=TWO, since=4)
    here._listeners = {ONE: {behind}, TWO: {level}}
    world.positions = {ONE: 3, TWO: 4}
    await here._recheck()
    await until(lambda: behind.since == 3)
    await settle(here)
    assert world.wanted == [{(ONE, 0)}]


async def test_who_was_signed_out_is_told_and_the_others_stay(
    here: Broadcaster, world: World
) -> None:
    here._access_seconds = 0.001
    out, twin, there = Page(access="out"), Page(access="out"), Page(access="in")
    here._listeners = {ONE: {out, twin, there}}
    world.refused = {"out": 4401, "elsewhere": 4404}
    await here._check_access()
    await until(lambda: out.ended and twin.ended)
    assert (out.ended, twin.ended, there.ended) == ([4401], [4401], [])
    assert here._list_listeners() == [there]


async def test_work_that_fails_begins_again(here: Broadcaster) -> None:
    tries: list[int] = []

    async def work() -> None:
        tries.append(1)
        if len(tries) == 2:
            here._running = False
        raise OSError("away")

    here._running = True
    await here._run_forever(work)
    assert len(tries) == 2


class Layer:
    """A channel layer that hands out what it is given."""

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.waits = 0

    async def new_channel(self) -> str:
        return "mine"

    async def group_add(self, group: str, channel: str) -> None:
        assert channel == "mine"
        self.groups.append(group)

    async def receive(self, channel: str) -> dict[str, Any]:
        assert channel == "mine"
        while not self.messages:
            self.waits += 1
            await asyncio.sleep(0.002)
        return self.messages.pop(0)


async def test_other_processes_are_heard_and_the_group_is_joined_again(
    here: Broadcaster, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, hub = Layer(), Hub()
    monkeypatch.setattr(broadcasting, "get_channel_layer", lambda: layer)
    monkeypatch.setattr(broadcasting, "get_hub", lambda: hub)
    monkeypatch.setattr(broadcasting, "REJOIN_SECONDS", 0.01)
    nudged: list[list[int]] = []
    monkeypatch.setattr(here, "nudge", lambda ids: nudged.append(list(ids)))
    work = asyncio.create_task(here._receive())
    await until(lambda: len(layer.groups) >= 3)
    assert set(layer.groups) == {"console"}
    layer.messages += [{"projects": [ONE, TWO]}, {}]
    await until(lambda: len(nudged) == 2)
    assert nudged == [[ONE, TWO], []]
    assert hub.nudges == 2, "programs follow runs as browsers follow projects"
    work.cancel()


class Hub:
    nudges = 0

    def nudge(self) -> None:
        self.nudges += 1


class Writer:
    """Counts who listens."""

    def __init__(self) -> None:
        self.heard: list[Callable[[Any], None]] = []

    def listen(self, on_commit: Callable[[Any], None]) -> Callable[[], None]:
        self.heard.append(on_commit)
        return lambda: self.heard.remove(on_commit)


async def test_it_listens_once_and_stops_wholly(
    here: Broadcaster, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer()
    monkeypatch.setattr(broadcasting, "get_writer", lambda: writer)
    page = Page()
    here.start()
    here.join(page)
    here.start()
    assert len(writer.heard) == 1
    await settle(here)
    world.positions[ONE] = 2
    commit = type("Commit", (), {"projects": [ONE]})()
    await asyncio.to_thread(writer.heard[0], commit)
    await until(lambda: page.since == 2)
    await here.stop()
    assert writer.heard == []
    assert not here._listeners
    assert not here._flushes
    assert all(task.done() for task in here._tasks)
    here.start()
    assert len(writer.heard) == 1, "after its end it begins anew"


def test_sockets_are_counted_for_each_person_and_in_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broadcasting, "USER_LIMIT", 2)
    monkeypatch.setattr(broadcasting, "SOCKET_LIMIT", 5)
    here = Broadcaster()
    open_ones = []

    def open_socket(user: int | None) -> bool:
        socket = here.count_socket(user)
        open_ones.append(socket)
        return socket.__enter__()

    assert [open_socket(1) for _ in range(3)] == [True, True, False]
    assert open_socket(2)
    assert open_socket(None), "strangers are counted in all, and not together"
    assert not open_socket(None)
    assert not open_socket(3), "the process is full"
    for socket in open_ones:
        socket.__exit__(None, None, None)
    assert not here._sockets, "nothing is remembered of who has gone"
    assert open_socket(1)


def test_only_a_whole_cursor_is_a_place_to_resume_from() -> None:
    def parse(document: object) -> int | None:
        return consumers._parse_resume(json.dumps(document))

    assert parse({"type": "resume", "since": 0}) == 0
    assert parse({"type": "resume", "since": 2**63 - 1}) == 2**63 - 1
    wrong: list[object] = [
        {"type": "resume", "since": 2**63},
        {"type": "resume", "since": -1},
        {"type": "resume", "since": True},
        {"type": "resume", "since": "1"},
        {"type": "resume", "since": 1.0},
        {"type": "resume"},
        {"since": 1},
        {"type": "resume", "since": 1, "more": "x" * 200},
        ["resume"],
    ]
    for document in wrong:
        assert parse(document) is None, document
    for text in (None, "", "{", "null"):
        assert consumers._parse_resume(text) is None


async def test_a_socket_is_closed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int | bool | None] = []

    async def close(self: Any, code: Any = None, reason: Any = None) -> None:
        closed.append(code)

    monkeypatch.setattr(
        "channels.generic.websocket.AsyncWebsocketConsumer.close", close
    )
    consumer = consumers.ConsoleConsumer()
    await consumer.close(4401)
    await consumer.close(4404)
    assert closed == [4401]
    await consumer.receive('{"type": "resume", "since": 1}')
    assert consumer.broadcaster is None, "who was closed is not listened to"
