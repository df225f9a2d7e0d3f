"""The workers are told at once of what the loop should look at, and of nothing else."""

from __future__ import annotations

from types import SimpleNamespace

import httpx
import pytest

from accounts.models import Project
from loop.control import worker_hint
from tests.support.builders import start_run, step


def test_a_step_that_stops_its_run_is_hinted_at_and_other_steps_are_not(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    hinted: list[int] = []
    monkeypatch.setattr(worker_hint, "_hints", SimpleNamespace(add=hinted.extend))

    agent.post(f"/runs/{run}/steps", json=step(1))
    assert hinted == []
    stopped = agent.post(f"/runs/{run}/steps", json=step(2, coherence=0.1))

    assert stopped.json()["decision"] == "stop"
    assert hinted == [project.pk]
