"""Sessions of the two coding agents, with nothing left to wait for in their options."""

from __future__ import annotations

import httpx
import pytest

from reviews.hooks import visits
from tests.hooks.hosts import Host


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twenty seconds, hooks are held for the third part of one."""
    monkeypatch.setattr(visits, "MARGIN", 0.983)
    monkeypatch.setattr(visits, "MARGIN_MAX", 20)


@pytest.fixture
def claude(agent: httpx.Client) -> Host:
    return Host(client=agent)


@pytest.fixture
def codex(agent: httpx.Client) -> Host:
    return Host(client=agent, dialect="codex")
