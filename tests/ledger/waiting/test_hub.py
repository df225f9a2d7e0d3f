"""Who waits for a run is woken by what they wait for, once, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from ledger.waiting import hub
from ledger.waiting.halts import RunFacts
from ledger.waiting.hub import Hub
from ledger.waiting.per_loop import PerLoop
from ledger.waiting.pg_listen import Notified
from ledger.writer import Committed
from ledger.writer.halts import ProjectHalts

pytestmark = pytest.mark.once("asks no database")

RUN, OTHER, BESIDE = 1, 2, 9
OWN_SESSION = 7


class FakeWriter:
    session = OWN_SESSION

    def __init__(self) -> None:
        self.listeners: list[tuple[Callable[[Committed], None], bool]] = []

    def listen(
        self, listener: Callable[[Committed], None], *, first: bool
    ) -> Callable[[], None]:
        self.listeners.append((listener, first))
        return self.listeners.clear


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> FakeWriter:
    made = FakeWriter()
    monkeypatch.setattr(hub, "get_writer", lambda: made)
    monkeypatch.setattr(hub, "connection", SimpleNamespace(vendor="sqlite"))
    return made


@pytest.fixture
async def waiting(writer: FakeWriter) -> AsyncIterator[Hub]:
    made = Hub()
    yield made
    await made.close()


def build_commit(*changed: int, waited: Iterable[int] = ()) -> Committed:
    return Committed(
        projects=frozenset(),
        changed_run_ids=frozenset(changed),
        waited_run_ids=frozenset(waited),
    )


async def commit(waiting: Hub, told: Committed) -> None:
    """As the writer does, from its own thread."""
    await asyncio.to_thread(waiting._on_commit, told)
    await take_turns()


async def take_turns() -> None:
    for _ in range(hub.TURNS + 4):
        await asyncio.sleep(0)


async def test_a_waiter_hears_of_people_and_a_follower_of_everything(
    waiting: Hub,
) -> None:
    waiters = [waiting.add_waiter(run, None) for run in (RUN, OTHER)]
    followers = [waiting.add_follower(run) for run in (RUN, OTHER)]

    await commit(waiting, build_commit(RUN))
    assert [each.done() for each in waiters] == [False, False]
    assert [each.done() for each in followers] == [True, False]

    followers[0] = waiting.add_follower(RUN)
    await commit(waiting, build_commit(RUN, waited=[RUN]))
    assert [each.done() for each in waiters] == [True, False]
    assert [each.done() for each in followers] == [True, False]

    await commit(waiting, build_commit(3, waited=[3]))
    assert not waiters[1].done()
    assert not followers[1].done()


async def test_what_a_look_finds_is_the_answer_and_what_fails_is_none(
    waiting: Hub,
) -> None:
    told = build_commit(RUN, waited=[RUN])

    def fail(_commit: Committed | None) -> str:
        raise LookupError("Not now.")

    found = waiting.add_waiter(RUN, lambda commit: f"found {commit is told}")
    failed = waiting.add_waiter(RUN, fail)
    plain = waiting.add_waiter(RUN, None)

    await commit(waiting, told)

    assert found.result() == "found True"
    assert (failed.result(), plain.result()) == (None, None)


async def test_the_writer_looks_for_a_few_and_wakes_all(waiting: Hub) -> None:
    looked: list[int] = []
    crowd = [
        waiting.add_waiter(RUN, lambda _commit: looked.append(1))
        for _ in range(hub.LOOKS + 3)
    ]

    await commit(waiting, build_commit(RUN, waited=[RUN]))

    assert len(looked) == hub.LOOKS
    assert all(each.done() for each in crowd)


async def test_a_waiter_that_went_away_meanwhile_holds_up_nobody(waiting: Hub) -> None:
    gone, other = (waiting.add_waiter(RUN, None) for _ in range(2))
    gone.cancel()
    told = threading.Event()

    waiting._answer_waiters([(gone, "a"), (other, "b")], [RUN], told)
    await take_turns()

    assert other.result() == "b"
    assert told.is_set()


async def test_those_count_who_have_read_the_head(waiting: Hub) -> None:
    waiting.note_head(RUN, 5)  # nobody waits for it yet
    waiting.add_waiter(RUN, None)
    assert waiting.count_waiting(RUN) == 0

    waiting.note_head(RUN, 5)
    waiting.add_follower(RUN)
    assert (waiting.count_waiting(RUN), waiting.count_waiting(OTHER)) == (2, 0)


async def test_nothing_is_kept_of_who_has_gone(waiting: Hub) -> None:
    waiter = waiting.add_waiter(RUN, lambda _commit: None)
    second = waiting.add_waiter(RUN, None)
    follower = waiting.add_follower(RUN)
    waiting.note_head(RUN, 5)

    for each, left in ((follower, 2), (waiter, 1), (second, 0)):
        each.cancel()
        await asyncio.sleep(0)
        assert waiting.count_waiting(RUN) == left

    kept = (waiting._waiters, waiting._followers, waiting._looks, waiting._heads)
    assert kept == ({}, {}, {}, {})


class Reads(list[Any]):
    def __init__(self) -> None:
        super().__init__()
        # The runs that were asked about, each time.
        self.asked: list[list[int]] = []


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """What the next re-checks read: heads, or an error. Then nothing has moved."""
    given = Reads()

    def read(run_ids: list[int]) -> dict[int, int]:
        given.asked.append(sorted(run_ids))
        answer = given.pop(0) if given else {}
        if isinstance(answer, Exception):
            raise answer
        return {run: head for run, head in answer.items() if run in run_ids}

    monkeypatch.setattr(hub, "_get_heads", read)
    monkeypatch.setattr(hub, "NUDGE_SECONDS", 0.001)
    return given


async def until_read(heads: Reads) -> None:
    async with asyncio.timeout(60):
        while heads:
            await asyncio.sleep(0.001)
    await take_turns()


async def let_re_checks_pass(heads: Reads) -> None:
    """Another hub re-checks a few times, as quickly as any would; its own do not count."""
    beside, before = Hub(recheck_seconds=0.002), [*heads.asked]
    beside.add_waiter(BESIDE, None)
    async with asyncio.timeout(60):
        while heads.asked.count([BESIDE]) < 10:
            await asyncio.sleep(0.001)
    await beside.close()
    heads.asked[:] = [each for each in heads.asked if each != [BESIDE]]
    assert heads.asked == before


async def test_a_re_check_wakes_whose_head_has_moved_and_goes_on_after_trouble(
    writer: FakeWriter, heads: Reads
) -> None:
    waiting = Hub(recheck_seconds=0.002)
    still, moved = waiting.add_waiter(RUN, None), waiting.add_waiter(OTHER, None)
    follower = waiting.add_follower(3)
    for run in (RUN, OTHER, 3):
        waiting.note_head(run, 5)
    same = {RUN: 5, OTHER: 5, 3: 5}

    heads += [same, OSError("The database is gone."), same]
    await until_read(heads)
    assert not any(each.done() for each in (still, moved, follower))

    heads.append({**same, OTHER: 6, 3: 7})
    async with asyncio.timeout(60):
        await asyncio.gather(moved, follower)
    assert not still.done()
    await waiting.close()


async def test_a_head_that_has_moved_is_forgotten_at_once(
    writer: FakeWriter, heads: Reads
) -> None:
    """Else the next one who reads would be woken by it again and again."""
    waiting = Hub(recheck_seconds=0.002)
    first = waiting.add_waiter(RUN, None)
    # Somebody comes back before the others are gone.
    again: list[asyncio.Future[Any]] = []
    first.add_done_callback(lambda _: again.append(waiting.add_waiter(RUN, None)))
    second = waiting.add_waiter(RUN, None)
    waiting.note_head(RUN, 5)
    heads.append({RUN: 6})
    async with asyncio.timeout(60):
        await asyncio.gather(first, second)
    waiting.note_head(RUN, 6)

    heads.append({RUN: 6})
    await until_read(heads)

    assert not again[0].done()
    await waiting.close()


async def test_a_nudge_brings_the_re_check_forward_for_followers_alone(
    writer: FakeWriter, heads: Reads
) -> None:
    waiting = Hub(recheck_seconds=3600)
    waiter = waiting.add_waiter(RUN, None)
    waiting.note_head(RUN, 5)
    waiting.nudge()
    await let_re_checks_pass(heads)
    assert heads.asked == []

    follower = waiting.add_follower(OTHER)
    waiting.note_head(OTHER, 5)
    heads.append({RUN: 5, OTHER: 6})
    waiting.nudge()
    async with asyncio.timeout(60):
        await follower
    await let_re_checks_pass(heads)
    assert not waiter.done()
    assert heads.asked == [[RUN, OTHER]]
    await waiting.close()


async def test_where_nobody_waits_nothing_is_read(
    writer: FakeWriter, heads: Reads
) -> None:
    waiting = Hub(recheck_seconds=0.002)
    await let_re_checks_pass(heads)
    assert heads.asked == []
    await waiting.close()


async def test_what_other_processes_commit_is_heard_and_our_own_not_twice(
    writer: FakeWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: asyncio.Queue[Notified | None] = asyncio.Queue()

    async def receive() -> AsyncIterator[Notified | None]:
        while True:
            yield await told.get()

    monkeypatch.setattr(hub, "connection", SimpleNamespace(vendor="postgresql"))
    monkeypatch.setattr(hub, "receive_notifications", receive)
    waiting = Hub()
    ours, theirs = (waiting.add_waiter(run, None) for run in (RUN, OTHER))

    told.put_nowait(Notified(OWN_SESSION, (RUN,)))
    told.put_nowait(Notified(OWN_SESSION + 1, (OTHER,)))
    await take_turns()
    assert (ours.done(), theirs.done()) == (False, True)

    # The connection stands anew: something may have been missed.
    follower = waiting.add_follower(OTHER)
    told.put_nowait(None)
    await take_turns()
    assert ours.done()
    assert follower.done()
    await waiting.close()


async def test_who_stops_lets_everybody_go(writer: FakeWriter) -> None:
    waiting = Hub()
    everybody = [waiting.add_waiter(RUN, None), waiting.add_follower(OTHER)]
    ((listener, first),) = writer.listeners
    assert (listener, first) == (waiting._on_commit, True)
    assert [waiting.closing] == [False]

    waiting.release()
    assert [waiting.closing] == [True]
    assert all(each.done() for each in everybody)

    late = waiting.add_waiter(RUN, None)
    await waiting.close()
    assert late.done()
    assert all(task.cancelled() for task in waiting._tasks)
    assert writer.listeners == []


async def test_a_hub_that_was_closed_is_replaced(writer: FakeWriter) -> None:
    waiting = hub.get_hub()
    assert hub.get_hub() is waiting
    future = waiting.add_waiter(RUN, None)
    waiting.note_head(RUN, 5)
    assert (hub.count_waiting(RUN), hub.count_waiting(OTHER)) == (1, 0)

    await hub.close_hub()
    await hub.close_hub()

    assert future.done()
    assert hub.get_hub() is not waiting
    await hub.close_hub()


def test_every_event_loop_has_its_own() -> None:
    numbers = iter(range(10))
    made = PerLoop(lambda: next(numbers))

    async def take() -> tuple[int, int, int | None, int | None, int]:
        return made.get(), made.get(), made.pop(), made.pop(), made.get()

    loops = [asyncio.new_event_loop() for _ in range(2)]
    assert loops[0].run_until_complete(take()) == (0, 0, 0, None, 1)
    assert loops[1].run_until_complete(take()) == (2, 2, 2, None, 3)
    assert sorted(made.list_all()) == [1, 3]
    for loop in loops:
        loop.close()


async def test_who_cannot_be_told_of_a_halt_is_woken_and_asks_for_itself(
    waiting: Hub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_project_id: int) -> ProjectHalts:
        raise OSError("the database is away")

    monkeypatch.setattr(waiting.halts, "get", fail)
    here, elsewhere = waiting.add_waiter(RUN, None), waiting.add_waiter(OTHER, None)
    for waiter, run, project in ((here, RUN, 1), (elsewhere, OTHER, 2)):
        facts = RunFacts(
            id=run,
            project_id=project,
            agent_id=1,
            labels={},
            ancestors=(),
            observed=False,
        )
        waiting.wake_when_held_otherwise(waiter, facts, held=False)

    waiting._change_halts(1)
    async with asyncio.timeout(60):
        await here

    assert not elsewhere.done()
    assert "could not be read" in caplog.text
