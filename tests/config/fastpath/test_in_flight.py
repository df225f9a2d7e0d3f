"""Of one key's costly requests a few are worked on at a time, and nobody else waits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from config.fastpath.application import FastPath
from config.fastpath.asgi import Message, Receive, Scope, Send
from config.fastpath.in_flight import AT_A_TIME
from tests.support.builders import Robot, make_project, make_robot

CALLS = "/api/v1/runs/0198/tool-calls"
STEPS = "/api/v1/runs/0198/steps"
COSTLY = (
    CALLS,
    "/api/v1/runs",
    "/api/v1/runs/0198/turns",
    "/api/v1/evaluate/turn",
    "/api/v1/evaluate/command",
    "/api/v1/evaluate/multi-edit",
)


class Inner:
    """Works on whatever it is given until it may end."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.tasks: list[asyncio.Task[Any] | None] = []
        self.may_end = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.started.append(scope["path"])
        self.tasks.append(asyncio.current_task())
        await self.may_end.wait()


def post(front: FastPath, robot: Robot, path: str) -> asyncio.Task[None]:
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {robot.key}".encode())],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    return asyncio.create_task(front(scope, receive, send))


async def settle(inner: Inner, at_least: int) -> list[str]:
    """What was started once nothing moves any more."""
    async with asyncio.timeout(60):
        while len(inner.started) < at_least:
            await asyncio.sleep(0.01)
    for _ in range(20):
        await asyncio.sleep(0)
    return inner.started


@pytest.fixture
def other(live: object) -> Robot:
    return make_robot(project=make_project())


@pytest.mark.parametrize("path", COSTLY)
def test_a_key_has_few_costly_requests_in_flight(
    robo: Robot, other: Robot, path: str
) -> None:
    async def scene() -> None:
        inner = Inner()
        front = FastPath(inner, enabled=False)
        tasks = [post(front, robo, path) for _ in range(3 * AT_A_TIME)]
        assert await settle(inner, AT_A_TIME) == [path] * AT_A_TIME
        tasks += [post(front, other, path)]
        assert await settle(inner, AT_A_TIME + 1) == [path] * (AT_A_TIME + 1)
        inner.may_end.set()
        await asyncio.gather(*tasks)
        assert len(inner.started) == 3 * AT_A_TIME + 1

    asyncio.run(scene())


def test_steps_are_as_many_as_are_sent(robo: Robot) -> None:
    async def scene() -> None:
        inner = Inner()
        front = FastPath(inner, enabled=False)
        tasks = [post(front, robo, STEPS) for _ in range(5 * AT_A_TIME)]
        await settle(inner, 5 * AT_A_TIME)
        inner.may_end.set()
        await asyncio.gather(*tasks)

    asyncio.run(scene())


def test_whoever_hangs_up_gives_the_turn_away(robo: Robot) -> None:
    async def scene() -> None:
        inner = Inner()
        front = FastPath(inner, enabled=False)
        tasks = [post(front, robo, CALLS) for _ in range(2 * AT_A_TIME)]
        await settle(inner, AT_A_TIME)
        for task in inner.tasks:
            assert task is not None
            task.cancel()
        await settle(inner, 2 * AT_A_TIME)
        inner.may_end.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(scene())
