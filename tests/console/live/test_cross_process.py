"""What other processes are told of a commit: which projects, over one connection."""

from __future__ import annotations

import asyncio
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest

from console.live import cross_process

WAIT_S = 60


def test_messages_are_sent_on_one_event_loop_even_after_trouble(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: Queue[tuple[Any, asyncio.AbstractEventLoop]] = Queue()

    class Layer:
        async def group_send(self, group: str, message: dict[str, Any]) -> None:
            sent.put((message, asyncio.get_running_loop()))
            raise ConnectionError("Redis is gone")

    monkeypatch.setattr(cross_process, "get_channel_layer", Layer)
    announcer = cross_process.Announcer()
    commit: Any = SimpleNamespace(projects={2, 1})
    announcer.on_commit(commit)
    first, loop = sent.get(timeout=WAIT_S)
    announcer.on_commit(commit)
    again, same_loop = sent.get(timeout=WAIT_S)
    assert first == again == {"type": "nudge", "projects": [1, 2]}
    assert loop is same_loop
