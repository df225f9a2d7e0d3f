"""The offline verifier agrees with the server, and notices every kind of change."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.builders import pause_at_once, pause_run, start_run, step
from tests.support.people import rule

CLIENT = Path(__file__).resolve().parents[3] / "client"
Lines = list[dict[str, Any]]


@pytest.fixture
def export(agent: httpx.Client) -> Lines:
    run = start_run(agent, task="Rename “naïve” to ☃")
    pause_run(agent, run)
    return get_ledger(agent, run)


def get_ledger(agent: httpx.Client, run: str) -> Lines:
    text = agent.get(f"/runs/{run}/ledger").text
    return [json.loads(line) for line in text.splitlines()]


def verify(lines: Lines, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The verifier as an outsider runs it: another process, no packages, no server."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return subprocess.run(
        [sys.executable, "-S", "-m", "checkrail.verify", "-", *arguments],
        input=text,
        cwd=CLIENT,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={"PYTHONUTF8": "1"},
    )


def receipt(lines: Lines) -> str:
    return f"{lines[-1]['seq']}:{lines[-1]['hash']}"


def test_an_export_with_its_head_is_complete(export: Lines) -> None:
    result = verify(export, "--head", receipt(export))
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"COMPLETE {len(export)} entries" in result.stdout


def test_a_closed_run_is_complete_by_itself(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    rule(reviewer, review, "abort")
    reviewer.post(f"/reviews/{review}/comments", json={"text": "Too risky"})
    lines = get_ledger(agent, run)
    ends = [line["type"] for line in lines[-2:]]
    assert ends == ["run.aborted", "review.commented"]

    assert verify(lines).returncode == 0
    assert verify(lines[:-1]).returncode == 0
    assert verify(lines[:-2]).returncode == 3


def test_a_stopped_run_may_go_on(agent: httpx.Client) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))
    assert agent.get(f"/runs/{run}").json()["status"] == "stopped"

    assert verify(get_ledger(agent, run)).returncode == 3


def test_every_cut_is_a_prefix_and_never_complete(export: Lines) -> None:
    for length in range(len(export) + 1):
        result = verify(export[:length])
        assert result.returncode == 3, length
        assert f"PREFIX {length} entries" in result.stdout
        assert "may have been cut off" in result.stdout


def test_an_earlier_receipt_does_not_prove_the_end(export: Lines) -> None:
    result = verify(export, "--head", receipt(export[:-1]))
    assert result.returncode == 3


def test_a_cut_tail_is_noticed_by_the_receipt(export: Lines) -> None:
    assert verify(export[:-1], "--head", receipt(export)).returncode == 1
    assert verify([], "--head", receipt(export)).returncode == 1


def test_a_file_that_is_not_there_is_neither(tmp_path: Path) -> None:
    result = verify([], "--head", "nonsense")
    assert (result.returncode, "SEQ:HASH" in result.stderr) == (2, True)
    missing = subprocess.run(
        [sys.executable, "-m", "checkrail.verify", str(tmp_path / "no.ndjson")],
        cwd=CLIENT,
        capture_output=True,
        check=False,
    )
    assert missing.returncode == 2


def _edit_payload(lines: Lines) -> None:
    lines[2]["payload"]["report"]["tokens"] = 1


def _edit_actor(lines: Lines) -> None:
    lines[2]["actor"] = "agent:somebody-else"


def _delete(lines: Lines) -> None:
    del lines[2]


def _swap(lines: Lines) -> None:
    lines[2], lines[3] = lines[3], lines[2]


def _duplicate(lines: Lines) -> None:
    lines.insert(3, lines[2])


def _unknown_format(lines: Lines) -> None:
    lines[2]["v"] = 99


@pytest.mark.parametrize(
    "tamper",
    [_edit_payload, _edit_actor, _delete, _swap, _duplicate, _unknown_format],
    ids=lambda tamper: tamper.__name__.strip("_"),
)
def test_every_change_breaks_the_chain_at_its_place(
    export: Lines, tamper: Callable[[Lines], None]
) -> None:
    tamper(export)
    result = verify(export)
    assert result.returncode == 1
    assert "BROKEN entry 3" in result.stdout or "BROKEN entry 4" in result.stdout
