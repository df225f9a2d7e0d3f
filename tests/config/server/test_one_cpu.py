"""The event loop and the writer's thread stay on one CPU, and nobody else has to."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Iterable, Iterator

import pytest

from config.server import one_cpu
from ledger.writer import get_writer
from tests.support.live import Live

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="There is nothing to choose from.",
)


@pytest.fixture
def bystander() -> Iterator[threading.Thread]:
    """A thread that was started by one that is kept on a CPU."""
    done = threading.Event()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    thread = threading.Thread(target=done.wait)
    thread.start()
    os.sched_setaffinity(0, before)
    yield thread
    done.set()
    thread.join()


def test_both_have_the_same_cpu_and_get_all_of_them_back(
    live: Live, bystander: threading.Thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = os.sched_getaffinity(0)
    monkeypatch.setattr(one_cpu, "HELD_SECONDS", 0.05)
    monkeypatch.setattr(one_cpu, "FREE_SECONDS", 0.02)
    writer, other = get_writer().thread_id, bystander.native_id
    assert other
    own, set_cpus = threading.get_ident(), one_cpu._set_cpus

    def set_own(threads: Iterable[int], cpus: Iterable[int]) -> None:
        """The live server keeps the same writer beside its own event loop."""
        if threading.get_ident() == own:
            set_cpus(threads, cpus)

    monkeypatch.setattr(one_cpu, "_set_cpus", set_own)

    async def look() -> None:
        together = asyncio.create_task(one_cpu.keep_on_one_cpu())
        sizes: list[int] = []
        async with asyncio.timeout(60):
            # Held, free for the kernel to choose again, and held again.
            while sizes[-3:] != [1, len(allowed), 1]:
                await asyncio.sleep(0.002)
                own = os.sched_getaffinity(0)
                assert own == os.sched_getaffinity(writer)
                if sizes[-1:] != [len(own)]:
                    sizes.append(len(own))
        assert os.sched_getaffinity(other) == allowed
        together.cancel()
        await asyncio.wait([together])
        assert os.sched_getaffinity(0) == os.sched_getaffinity(writer) == allowed

    asyncio.run(look())


def test_it_is_done_where_there_is_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert one_cpu.may_keep_on_one_cpu()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _thread: {3})
    assert not one_cpu.may_keep_on_one_cpu()
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.delattr(os, "sched_setaffinity")
    assert not one_cpu.may_keep_on_one_cpu()


def test_where_it_is_forbidden_all_goes_on_without(
    database: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_given: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    with caplog.at_level(logging.WARNING):
        asyncio.run(one_cpu.keep_on_one_cpu())
    assert "Threads cannot be kept on one CPU" in caplog.text


def test_a_thread_that_has_ended_holds_up_nothing(bystander: threading.Thread) -> None:
    gone = threading.Thread(target=int)
    gone.start()
    gone.join()
    assert gone.native_id
    assert bystander.native_id
    allowed = os.sched_getaffinity(0)
    one_cpu._set_cpus([gone.native_id, bystander.native_id], allowed)
    assert os.sched_getaffinity(bystander.native_id) == allowed
