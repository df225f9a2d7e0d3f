"""Places of streams, followers that may look no longer, feeds, and agents that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test.utils import override_settings

from accounts.models import Project
from common.errors import Invalid, RateLimited
from gateway.streams import events, feeds, followers, limits
from gateway.streams.feeds import Changes, Feed, Feeds, Head, Page
from gateway.streams.followers import Follower, Followers
from gateway.use_cases import agent_waits
from gateway.use_cases.agent_waits import AgentWaits
from ledger.waiting.halts import HaltWatch
from ledger.writer.halts import ProjectHalts
from reviews.open_access import KeyAccess, SessionAccess
from tests.support.builders import Person, Robot, make_robot

pytestmark = pytest.mark.once("looks at what is held in memory")


async def until(check: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not check():
            await asyncio.sleep(0.002)


async def take_turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


# Places


@pytest.fixture
def readers(project: Project, alice: Person, robo: Robot) -> dict[str, Any]:
    second = make_robot("robo-2", project=project)
    session = SessionAccess(
        user_id=alice.user.pk,
        project_id=project.pk,
        session_key="s",
        auth_hash="h",
    )
    keyed = {
        name: KeyAccess(principal=each.principal, project_id=project.pk)
        for name, each in (("token", alice), ("one", robo), ("two", second))
    }
    return {**keyed, "session": session}


def test_each_caller_and_each_run_has_so_many_streams(readers: dict[str, Any]) -> None:
    with override_settings(STREAMS_PER_KEY=2, STREAMS_PER_RUN=3):
        run, other = object(), object()
        taken = [limits.take_slot(readers["one"], run) for _ in range(2)]  # type: ignore[arg-type]
        with pytest.raises(RateLimited, match="This key has 2 ") as full:
            limits.take_slot(readers["one"], other)  # type: ignore[arg-type]
        assert full.value.headers["Retry-After"] == "5"
        taken.append(limits.take_slot(readers["two"], run))  # type: ignore[arg-type]
        with pytest.raises(RateLimited, match="This run has 3 "):
            limits.take_slot(readers["token"], run)  # type: ignore[arg-type]
        # A refusal takes no place, and one is given back once, however often.
        taken[0].release()
        taken[0].release()
        taken[0] = limits.take_slot(readers["one"], run)  # type: ignore[arg-type]
        with pytest.raises(RateLimited):
            limits.take_slot(readers["one"], other)  # type: ignore[arg-type]
        taken.clear()  # whoever was forgotten has left
        again = [limits.take_slot(readers["one"], run) for _ in range(2)]  # type: ignore[arg-type]
        for slot in again:
            slot.release()


def test_a_person_is_one_caller_whatever_they_come_with(
    readers: dict[str, Any],
) -> None:
    with override_settings(STREAMS_PER_KEY=1, STREAMS_PER_RUN=9):
        held = limits.take_slot(readers["session"], 10**9)
        with pytest.raises(RateLimited):
            limits.take_slot(readers["token"], 10**9)
        other = limits.take_slot(readers["one"], 10**9)
        held.release()
        other.release()
    assert not any(name == ("run", 10**9) for name in limits._taken)


def test_a_place_in_a_ledger_is_a_number_of_an_entry() -> None:
    def parse(header: str | None = None, query: str | None = None) -> Any:
        return events._parse_position(last_event_id=header, after=query)

    assert parse() == (0, ["query", "after"])
    assert parse(query="7") == (7, ["query", "after"])
    assert parse("8", "7") == (8, ["header", "Last-Event-ID"]), "the newer one"
    assert parse("9999999999")[0] == 9_999_999_999
    for wrong in ("", "-1", "1.0", "²", "x", "1" * 11):
        with pytest.raises(Invalid):
            parse(wrong)
        with pytest.raises(Invalid):
            parse(query=wrong)


# Followers


async def test_a_follower_is_woken_by_news_by_refusal_or_by_the_clock() -> None:
    loop = asyncio.get_running_loop()
    follower = Follower("reader")  # type: ignore[arg-type]
    assert not await follower.wait_for(loop.create_future(), seconds=0.001)
    news = loop.create_future()
    loop.call_soon(news.set_result, None)
    assert await follower.wait_for(news, seconds=60)
    loop.call_soon(follower.refuse)
    assert await follower.wait_for(loop.create_future(), seconds=60)
    assert follower.refused
    assert follower._waiting_on is None


async def test_a_follower_that_does_not_leave_is_ended() -> None:
    made: list[Follower] = []

    async def stay() -> None:
        made.append(Follower("reader"))  # type: ignore[arg-type]
        await asyncio.sleep(60)

    task = asyncio.create_task(stay())
    await until(lambda: made)
    made[0].refuse()
    await take_turns()
    assert not task.done(), "first politely"
    made[0].refuse()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_only_who_is_sent_to_for_long_has_stalled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    follower = Follower("reader")  # type: ignore[arg-type]
    now = [100.0]
    follower._loop = SimpleNamespace(time=lambda: now[0])  # type: ignore[assignment]
    found = [follower.stalled]
    follower.mark_sending()
    now[0] += followers.STALLED_SECONDS
    found.append(follower.stalled)
    now[0] += 0.1
    found.append(follower.stalled)
    follower.mark_sent()
    assert [*found, follower.stalled] == [False, False, True, False]


async def test_all_are_watched_over_through_trouble_until_nobody_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(followers, "ACCESS_SECONDS", 0.002)
    asked: list[set[Any]] = []
    refused: set[Any] = set()
    trouble = [OSError("away")]

    async def look(work: Any) -> Any:
        asked.append(set(work.args[0]))
        if trouble:
            raise trouble.pop()
        return refused

    monkeypatch.setattr(followers, "run_in_db_thread", look)
    here = Followers()
    with here.watch("one") as one, here.watch("two") as two:  # type: ignore[arg-type]
        await until(lambda: len(asked) > 2)
        assert asked[0] == {"one", "two"}
        refused.add("one")
        await until(lambda: one.refused)
        assert not two.refused
        here.leave(one)
    await until(lambda: here._watch is None)
    count = len(asked)
    with here.watch("three"):  # type: ignore[arg-type]
        await until(lambda: len(asked) > count)
        assert asked[count] == {"three"}, "while nobody is left nothing is asked"
    await until(lambda: here._watch is None)


# Feeds


class Hub:
    closing = False

    def __init__(self) -> None:
        self.waits: list[asyncio.Future[None]] = []
        self.heads: list[tuple[int, int]] = []
        self.halts = HaltWatch()
        self.halts._known[1] = ProjectHalts(0)

    def add_follower(self, run_id: int) -> asyncio.Future[None]:
        self.waits.append(asyncio.get_running_loop().create_future())
        return self.waits[-1]

    def wake_when_held_otherwise(self, *_: Any, **__: Any) -> None:
        """Nothing is halted here."""

    def note_head(self, run_id: int, head: int) -> None:
        self.heads.append((run_id, head))

    def nudge(self) -> None:
        for wait in self.waits:
            if not wait.done():
                wait.set_result(None)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub()
    monkeypatch.setattr(feeds, "get_hub", lambda: hub)

    async def look(work: Any) -> Any:
        await asyncio.sleep(0)
        return work()

    monkeypatch.setattr(feeds, "run_in_db_thread", look)
    monkeypatch.setattr(feeds, "REST_FACTOR", 0)
    monkeypatch.setattr(feeds, "get_run_facts", lambda _: SimpleNamespace(project_id=1))
    return hub


class Ledger:
    """What stands in the database."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seq = 1
        self.refused: set[Any] = set()
        self.looks: list[tuple[set[Any], int | None]] = []
        self.pages: list[tuple[int, int]] = []
        self.trouble: list[Exception] = []
        monkeypatch.setattr(feeds, "_read_changes", self._read_changes)
        monkeypatch.setattr(feeds, "_read_page", self._read_page)

    def _read_changes(
        self, run_id: int, code: str, readers: set[Any], before: int | None
    ) -> Changes:
        self.looks.append((set(readers), before))
        if self.trouble:
            raise self.trouble.pop()
        page = None
        if before is not None and self.seq > before:
            page = Page(before, self.seq, f"new {self.seq}")
        return Changes(self.refused, Head("running", self.seq, "h"), page)

    def _read_page(self, run_id: int, code: str, after: int, until: int) -> Page:
        self.pages.append((after, until))
        return Page(after, until, f"{after} to {until}")


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch, hub: Hub) -> Ledger:
    return Ledger(monkeypatch)


def follow(feed: Feed, reader: str = "reader") -> Follower:
    follower = Follower(reader)  # type: ignore[arg-type]
    feed.followers.add(follower)
    return follower


async def test_one_look_serves_all_streams_of_a_run(hub: Hub, ledger: Ledger) -> None:
    here = Feeds()
    streams = [Follower("reader") for _ in range(20)]  # type: ignore[arg-type]
    joined = {here.join(7, "code", each) for each in streams}
    (feed,) = joined
    await until(lambda: feed.head is not None)
    waits = [asyncio.create_task(feed.wait(each, seconds=60)) for each in streams]
    await until(lambda: len(feed.waiting) == 20)
    ledger.seq = 2
    hub.nudge()
    assert await asyncio.gather(*waits) == [True] * 20, "all, however many at once"
    assert ledger.looks == [({"reader"}, None), ({"reader"}, 1)]
    assert hub.heads[-1] == (7, 2)
    assert not feed.waiting
    # What is new was read with the look; older pages once for all who ask for them.
    assert (await feed.get_page(1)).text == "new 2"
    assert ledger.pages == []
    pages = await asyncio.gather(*(feed.get_page(0) for _ in range(5)))
    assert {page.text for page in pages} == {"0 to 2"}
    assert ledger.pages == [(0, 2)]
    await feed.get_page(0)
    assert len(ledger.pages) == 2, "it is not kept"
    for each in streams[:-1]:
        here.leave(feed, each)
    assert here.open == {7: feed}
    here.leave(feed, streams[-1])
    assert here.open == {}
    await until(lambda: feed._task.done())


async def test_a_look_without_news_wakes_nobody(hub: Hub, ledger: Ledger) -> None:
    here = Feeds()
    follower = Follower("reader")  # type: ignore[arg-type]
    feed = here.join(7, "code", follower)
    await until(lambda: len(ledger.looks) == 1)
    waiting = asyncio.create_task(feed.wait(follower, seconds=60))
    await until(lambda: feed.waiting)
    hub.nudge()
    await until(lambda: len(ledger.looks) == 2)
    await take_turns()
    assert not waiting.done()
    ledger.refused = {"reader"}
    hub.nudge()
    assert await waiting, "who may look no longer is woken"
    assert follower.refused
    here.leave(feed, follower)


async def test_a_feed_that_failed_is_told_to_all_and_replaced(
    hub: Hub, ledger: Ledger
) -> None:
    here = Feeds()
    old, new = Follower("old"), Follower("new")  # type: ignore[arg-type]
    ledger.trouble = [OSError("away")]
    failed = here.join(7, "code", old)
    assert await failed.wait(old, seconds=60)
    assert isinstance(failed.error, OSError)
    fresh = here.join(7, "code", new)
    assert fresh is not failed
    here.leave(failed, old)
    assert here.open == {7: fresh}, "the old one's end does not end the new one"
    await until(lambda: fresh.head is not None)
    here.leave(fresh, new)


# Agents that wait


async def test_waits_are_stored_while_they_last_and_once_after(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stored: list[dict[UUID, datetime]] = []
    trouble = [OSError("away")]

    async def store(work: Any) -> None:
        stored.append(work.args[0])
        if trouble:
            raise trouble.pop()

    monkeypatch.setattr(agent_waits, "run_in_db_thread", store)
    monkeypatch.setattr(agent_waits, "STORE_SECONDS", 0.002)
    waits = AgentWaits()
    one, two = uuid4(), uuid4()
    with waits.wait_for(one):
        with waits.wait_for(one), waits.wait_for(two):
            await until(lambda: len(stored) > 2)
            assert all(set(each) == {one, two} for each in stored)
        assert set(waits._left) == {two}, "somebody still waits for the other one"
        count = len(stored)
        await until(lambda: len(stored) > count + 1)
        assert set(stored[-1]) == {one}
    assert "could not be stored" in caplog.text
    await until(lambda: waits._task is not None and waits._task.done())
    assert one in stored[-1]
    assert (waits._waiting, waits._left) == ({}, {})
    with waits.wait_for(two):
        await until(lambda: set(stored[-1]) == {two})
