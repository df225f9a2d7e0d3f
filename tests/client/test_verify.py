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

from tests.builders import pause_run, start_run

CLIENT = Path(__file__).resolve().parents[2] / "client"
Lines = list[dict[str, Any]]


@pytest.fixture
def export(agent: httpx.Client) -> Lines:
    run = start_run(agent, task="Rename “naïve” to ☃")
    pause_run(agent, run)
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


def test_a_whole_export_with_its_receipt_passes(export: Lines) -> None:
    result = verify(export, "--head", receipt(export))
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(export)} entries are whole" in result.stdout


def test_without_a_receipt_it_says_what_it_cannot_know(export: Lines) -> None:
    result = verify(export)
    assert result.returncode == 2
    assert "would not be noticed" in result.stdout


def test_a_cut_tail_is_noticed_by_the_receipt(export: Lines) -> None:
    assert verify(export[:-1], "--head", receipt(export)).returncode == 1


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
