"""What a long call costs is spent beside the event loop, where nobody else waits for it."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from gateway.use_cases import tool_calls
from tests.gateway.calls.calls import command
from tests.support.builders import start_run

pytestmark = pytest.mark.once("judges calls, not SQL")

PARTS = ("judge_call", "build_call_facts", "compute_call_digest")


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """In which thread each part of the work was done last."""
    seen: dict[str, str] = {}

    def watch(name: str, part: Any) -> Any:
        def work(*args: Any, **kwargs: Any) -> Any:
            seen[name] = threading.current_thread().name
            return part(*args, **kwargs)

        return work

    for name in PARTS:
        monkeypatch.setattr(tool_calls, name, watch(name, getattr(tool_calls, name)))
    return seen


def test_a_long_call_is_read_in_the_lane_and_a_short_one_where_it_came(
    agent: httpx.Client, threads: dict[str, str]
) -> None:
    run = start_run(agent)
    assert command(agent, run, "ls\n" * 2_000)["decision"] == "allow"
    assert threads == dict.fromkeys(PARTS, "long-work")
    # Installing is not plain: the writer does not get it at once.
    assert command(agent, run, "pip install six")["decision"] in {"allow", "warn"}
    assert threads == dict.fromkeys(PARTS, "live-server")
