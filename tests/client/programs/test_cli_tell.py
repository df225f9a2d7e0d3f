"""Telling a running agent something from a terminal."""

from __future__ import annotations

import json

import httpx
import pytest
from checkrail.cli.main import main

from tests.client.programs.test_cli_halts import Captured, signed_in
from tests.reviews.agent_notes.telling import list_states, report
from tests.support.builders import start_run

__all__ = ["signed_in"]  # a fixture of this module, too


def test_a_person_tells_it_and_the_agent_hears_it(
    agent: httpx.Client, capsys: Captured
) -> None:
    run = start_run(agent)
    capsys.readouterr()
    assert main(["tell", run, "Keep dist", "--tag", "scope"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Told robo")
    assert main(["tell", run, "And docs", "--json"]) == 0
    note = json.loads(capsys.readouterr().out)
    assert (note["text"], note["state"]) == ("And docs", "waiting")
    assert report(agent, run, 1) == ["Keep dist", "And docs"]
    assert list_states(agent, run) == ["delivered"] * 2


def test_a_run_that_is_over_hears_nothing(
    agent: httpx.Client, capsys: Captured
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    assert main(["tell", run, "Too late"]) == 1
    assert "completed" in capsys.readouterr().err


def test_it_may_be_no_agent_session(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """It would pass for a person's words."""
    run = start_run(agent)
    monkeypatch.setenv("CHECKRAIL_AGENT_SESSION", "claude-code:1")
    capsys.readouterr()
    assert main(["tell", run, "Go on"]) == 1
    assert list_states(agent, run) == []
