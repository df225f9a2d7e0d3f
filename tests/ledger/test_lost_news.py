"""A lost message only delays a waiting agent until the slow re-check."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import httpx
import pytest

from ledger.waiting.hub import Hub
from tests.support.builders import pause_at_once, start_run
from tests.support.people import rule
from tests.support.waiting import park


def test_the_re_check_finds_what_no_message_told(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake = Hub.wake

    def deaf(hub: Hub, run_ids: Iterable[int]) -> None:
        if sys._getframe(1).f_code.co_name == "_recheck":
            wake(hub, run_ids)

    monkeypatch.setattr(Hub, "wake", deaf)
    monkeypatch.setattr(Hub, "_look_for", lambda _hub, _runs: [])
    run = start_run(agent)
    review = pause_at_once(agent, run)
    parked = park(agent, run)

    rule(reviewer, review, "approve")

    assert parked.result(timeout=60).json()["state"] == "ruled"
