"""Who has had the least processor time comes first, and the event loop goes on."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar, copy_context
from threading import Event
from time import thread_time

import pytest

from common.long_work import Line, Share, run_long, share

A1, A2, B1 = Share(1, "a1"), Share(1, "a2"), Share(2, "b1")


def take_all(line: Line, *, seconds: float = 1.0) -> list[Share]:
    taken: list[Share] = []
    while (found := line.take()) is not None:
        taken.append(found[0])
        line.add_seconds(found[0], seconds)
    return taken


def do_nothing() -> None:
    pass


def fill(line: Line, **counts: int) -> None:
    for name, count in counts.items():
        for _ in range(count):
            line.add({"a1": A1, "a2": A2, "b1": B1}[name], do_nothing)


def test_projects_share_alike_however_many_agents_they_have() -> None:
    line = Line()
    fill(line, a1=4, a2=4, b1=4)
    assert sorted(take_all(line)[:8]) == [A1, A1, A2, A2, B1, B1, B1, B1]


def test_agents_of_a_project_share_alike() -> None:
    line = Line()
    fill(line, a1=5, a2=2)
    assert sorted(take_all(line)[:4]) == [A1, A1, A2, A2]


def test_seconds_count_and_not_pieces() -> None:
    line = Line()
    fill(line, a1=3, b1=9)
    order = []
    while (found := line.take()) is not None:
        order.append(found[0])
        line.add_seconds(found[0], 4.0 if found[0] == A1 else 1.0)
    assert order.count(B1) == 9
    assert order[:7].count(A1) == 2


def test_the_work_of_one_agent_keeps_its_order() -> None:
    line = Line()
    done: list[int] = []
    for number in range(3):
        line.add(A1, lambda number=number: done.append(number))  # type: ignore[misc]
    while (found := line.take()) is not None:
        found[1]()
    assert done == [0, 1, 2]


def test_who_comes_later_has_saved_nothing_up() -> None:
    line = Line()
    fill(line, a1=20)
    for _ in range(10):
        found = line.take()
        assert found is not None
        line.add_seconds(found[0], 1.0)
    fill(line, a2=10, b1=10)
    order = take_all(line)
    assert order[:20].count(B1) == 10
    assert order[:20].count(A1) == 5
    assert order[:20].count(A2) == 5


def test_who_goes_away_and_comes_back_is_still_charged() -> None:
    line = Line()
    fill(line, a1=1, b1=3)
    line.add_seconds(B1, 1.0)
    assert line.take() == (A1, do_nothing)
    line.add_seconds(A1, 5.0)
    fill(line, a1=1)
    assert take_all(line) == [B1, B1, B1, A1]


def test_an_empty_line_forgets() -> None:
    line = Line()
    fill(line, a1=1, b1=1)
    take_all(line, seconds=9.0)
    line.add_seconds(A1, 0.0)
    fill(line, a1=1, b1=1)
    assert line.take() is not None
    assert len(take_all(line)) == 1


def spin(seconds: float) -> str:
    end = thread_time() + seconds
    while thread_time() < end:
        pass
    return threading.current_thread().name


def test_one_thread_does_all_of_it_beside_the_event_loop() -> None:
    async def scene() -> set[str]:
        names = await asyncio.gather(*(run_long(spin, 0.001) for _ in range(20)))
        return set(names)

    assert asyncio.run(scene()) == {"long-work"}


def test_each_piece_counts_for_the_time_it_has_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[float] = []
    monkeypatch.setattr(Line, "add_seconds", lambda *given: counted.append(given[2]))

    async def scene() -> None:
        for _ in range(3):
            await run_long(spin, 0.02)

    asyncio.run(scene())
    # The last is counted after its answer; the first two are there.
    assert [0.02 <= seconds < 0.04 for seconds in counted[:2]] == [True, True]


def test_what_goes_wrong_is_raised_where_it_was_asked_for() -> None:
    def fail() -> None:
        raise LookupError("gone")

    async def scene() -> str:
        with pytest.raises(LookupError, match="gone"):
            await run_long(fail)
        return await run_long(spin, 0.0)

    assert asyncio.run(scene()) == "long-work"


def test_arguments_and_context_come_along() -> None:
    word: ContextVar[str] = ContextVar("word")

    def read(first: int, *, second: int) -> tuple[int, str]:
        return first + second, word.get()

    async def scene() -> tuple[int, str]:
        word.set("here")
        return await run_long(read, 1, second=2)

    assert asyncio.run(scene()) == (3, "here")


def test_work_that_nobody_waits_for_is_not_begun() -> None:
    begun, may_end = Event(), Event()
    done: list[str] = []

    def hold() -> None:
        begun.set()
        may_end.wait(60)

    async def scene() -> None:
        held = asyncio.create_task(run_long(hold))
        await asyncio.to_thread(begun.wait, 60)
        left = asyncio.create_task(run_long(done.append, "left"))
        stayed = asyncio.create_task(run_long(done.append, "stayed"))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.sleep(0)
        may_end.set()
        await asyncio.gather(held, stayed)

    asyncio.run(scene())
    assert done == ["stayed"]


def test_whose_it_is_decides_what_comes_next() -> None:
    """Two agents of one project and one of another wait behind the same long work."""
    begun, may_end = Event(), Event()
    order: list[str] = []

    def hold() -> None:
        begun.set()
        may_end.wait(60)

    def work(name: str) -> None:
        order.append(name)
        spin(0.02)

    async def ask(whose: Share, name: str) -> None:
        share.set(whose)
        await run_long(work, name)

    async def scene() -> None:
        held = asyncio.create_task(run_long(hold))
        await asyncio.to_thread(begun.wait, 60)
        flood = [(A1, "a1"), (A1, "a1"), (A2, "a2"), (A2, "a2"), (B1, "b1")]
        tasks = [
            asyncio.create_task(ask(*piece), context=copy_context()) for piece in flood
        ]
        await asyncio.sleep(0)
        may_end.set()
        await asyncio.gather(held, *tasks)

    asyncio.run(scene())
    assert "b1" in order[:2]
    assert order[:3].count("a1") < 2
