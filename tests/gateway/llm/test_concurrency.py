"""Places are never lost and never double, across threads, loops, ends and time-outs."""

from __future__ import annotations

import asyncio
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gateway.llm.concurrency import Places


async def test_a_place_that_nobody_gives_back_in_time() -> None:
    places = Places(1)
    async with places.take_one(within=1):
        with pytest.raises(TimeoutError):
            async with places.take_one(within=0.02):
                raise AssertionError
    async with places.take_one(within=0):
        pass


async def test_first_come_first_served() -> None:
    places = Places(1)
    served: list[int] = []

    async def take(number: int) -> None:
        async with places.take_one(within=60):
            served.append(number)

    async with places.take_one(within=1):
        waiting = [asyncio.create_task(take(number)) for number in range(20)]
        await asyncio.sleep(0)  # each of them has asked, in this order
    await asyncio.gather(*waiting)

    assert served == list(range(20))


def test_threads_and_loops_share_them_whatever_happens_to_who_waits() -> None:
    places = Places(3)
    lock = threading.Lock()
    now = most = 0

    async def work(chance: random.Random) -> None:
        nonlocal now, most
        async with places.take_one(within=chance.choice([0.001, 0.01, 60])):
            with lock:
                now += 1
                most = max(most, now)
            try:
                await asyncio.sleep(chance.uniform(0, 0.003))
            finally:
                with lock:
                    now -= 1

    async def crowd(seed: int) -> None:
        chance = random.Random(seed)
        tasks = [asyncio.create_task(work(chance)) for _ in range(60)]
        for task in tasks[::7]:
            await asyncio.sleep(0.001)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda seed: asyncio.run(crowd(seed)), range(12)))

    assert most == 3
    assert now == 0
    assert places._free == 3
