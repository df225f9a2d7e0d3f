"""Halts from a terminal."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import httpx
import pytest
from checkrail.cli.main import main

from tests.support.builders import Person, start_run
from tests.support.live import Live
from tests.support.problems import problem

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def signed_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, live: Live, alice: Person
) -> None:
    for name in ("CHECKRAIL_URL", "CHECKRAIL_KEY", "CHECKRAIL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CHECKRAIL_CONFIG", str(tmp_path / "login.json"))
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{alice.token}\n"))
    assert main(["login", "--url", live.url, "--token-stdin"]) == 0


def test_a_person_halts_looks_and_releases_in_stages(
    agent: httpx.Client, alice: Person, capsys: Captured
) -> None:
    capsys.readouterr()
    assert main(["halts"]) == 0
    assert capsys.readouterr().out == "Nothing is halted.\n"
    assert main(["halt", "--project", "--reason", "Look", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["scope"]["project"] is True
    problem(agent.post("/runs", json={"task": "No"}), "halted")
    assert main(["halts"]) == 0
    told = capsys.readouterr().out
    assert made["id"] in told
    assert alice.user.username in told
    kept = ["--keep-agent", "robo", "--keep-label", "risk:high"]
    assert main(["release", made["id"], "--reason", "Fine", *kept]) == 0
    assert capsys.readouterr().out.startswith("Released the project ")
    problem(agent.post("/runs", json={"task": "No"}), "halted")
    assert main(["halts", "--all", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["state"] for each in listed] == ["standing", "standing", "released"]


def test_a_run_and_what_is_below_it(agent: httpx.Client, capsys: Captured) -> None:
    run = start_run(agent)
    capsys.readouterr()
    asked = ["halt", "--run", run, "--children", "--reason", "Look"]
    assert main(asked) == 0
    assert f"Halted the run {run} and its children" in capsys.readouterr().out
    assert main(asked) == 1
    assert "halted already" in capsys.readouterr().err
