"""The check of docs/ledger.md, as printed there, on a real run's ledger."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest

from tests.docs.markdown import blocks, read_page
from tests.support.builders import pause_run, start_run


@pytest.fixture
def ledger(agent: httpx.Client) -> bytes:
    # A label named like a field, and text beyond ASCII: both have to survive.
    labels = {"payload_sha256": '","payload_sha256":"x'}
    run = start_run(agent, task="Prüfe „alles“", labels=labels)
    pause_run(agent, run)
    return agent.get(f"/runs/{run}/ledger").content


def check(ledger: bytes) -> subprocess.CompletedProcess[bytes]:
    (script,) = blocks(read_page("docs/ledger.md"), language="python")
    return subprocess.run(
        [sys.executable, "-I", "-c", script], input=ledger, capture_output=True
    )


def test_a_whole_chain_is_found_whole(ledger: bytes) -> None:
    done = check(ledger)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"7 entries hold, head ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"tokens":1000', b'"tokens":1001'),
        (b'"type":"step.judged"', b'"type":"step.forged"'),
        (b'"decision":"pause"', b'"decision":"continue"'),
    ],
    ids=["payload", "type", "decision"],
)
def test_a_changed_byte_is_found(ledger: bytes, old: bytes, new: bytes) -> None:
    assert old in ledger
    assert check(ledger.replace(old, new, 1)).returncode == 1


def test_a_missing_or_swapped_entry_is_found(ledger: bytes) -> None:
    lines = ledger.splitlines(keepends=True)
    without = lines[:2] + lines[3:]
    swapped = [lines[1], lines[0], *lines[2:]]
    assert check(b"".join(without)).stderr == b"broken at entry 3\n"
    assert check(b"".join(swapped)).stderr == b"broken at entry 1\n"
