"""A session of the real Claude Code, in a home and a project of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.coding_agents.real.programs import Session, find_claude
from tests.gateway.coding_agents.standins import standing_in


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    home, folder = tmp_path / "home", tmp_path / "shop"
    (folder / "build").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with standing_in() as model:
        yield Session(program=find_claude(), home=home, project=folder, model=model)
