"""Work that ends with its caller, and only with its caller."""

from __future__ import annotations

import asyncio

import pytest

from config.fastpath.asgi import Message
from config.fastpath.outcomes import stop_on_hang_up

pytestmark = pytest.mark.once("knows no database")


def test_whoever_cancels_the_task_is_not_taken_for_a_caller_who_left() -> None:
    async def scene() -> None:
        hang_up = asyncio.Event()

        async def receive() -> Message:
            await hang_up.wait()
            return {"type": "http.disconnect"}

        waiting = asyncio.create_task(stop_on_hang_up(asyncio.sleep(60), receive))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

        # A caller who leaves once the work is done cancels nothing.
        assert await stop_on_hang_up(asyncio.sleep(0, "done"), receive) == "done"
        hang_up.set()
        for _ in range(10):
            await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()

    asyncio.run(scene())
