"""Sessions of the two coding agents, with nothing left to wait for in their options."""

from __future__ import annotations

import httpx
import pytest

from gateway.coding_agents import session_events
from tests.gateway.coding_agents.hosts import Host


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twenty seconds, hooks are held for the third part of one."""
    monkeypatch.setattr(session_events, "MARGIN", 0.983)
    monkeypatch.setattr(session_events, "MARGIN_MAX", 20)


@pytest.fixture
def claude(agent: httpx.Client) -> Host:
    return Host(client=agent)


@pytest.fixture
def codex(agent: httpx.Client) -> Host:
    return Host(client=agent, dialect="codex")
