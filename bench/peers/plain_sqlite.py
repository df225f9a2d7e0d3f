"""The SQLite peer: one thread and the bare driver write the same rows in batches."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

HEAD = """
UPDATE ledger_run SET tokens_used = tokens_used + 1830,
  tool_calls_used = tool_calls_used + 2, time_ms_used = time_ms_used + 4200,
  cost_micros_used = cost_micros_used + 12100, steps = ?, last_step = ?,
  last_decision = 'continue', memory = ?, head_seq = ?, head_hash = ?, updated_at = ?
WHERE id = ? AND head_hash = ?
"""
POSITION = "UPDATE ledger_projecthead SET position = position + ? WHERE project_id = ?"
ENTRY = """
INSERT INTO ledger_entry (run_id, project_id, version, seq, position, at, type, actor,
  payload, payload_sha256, prev_hash, hash, step_number, decision)
VALUES (?, ?, 1, ?, ?, ?, 'step.judged', ?, ?, ?, ?, ?, ?, 'continue')
"""
LIKE_OURS = """
SELECT entry.payload, entry.actor, run.memory, run.project_id, run.updated_at
FROM ledger_entry AS entry JOIN ledger_run AS run ON run.id = entry.run_id
WHERE entry.type = 'step.judged' ORDER BY entry.id DESC LIMIT 1
"""


def measure_sqlite(database: Path, *, batch: int, seconds: float) -> float:
    """Steps a second with synchronous=FULL, into a copy of the server's database."""
    copy = database.with_name("peer.sqlite3")
    copy.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(database)) as ours,
        closing(_open_database(copy)) as peer,
    ):
        ours.backup(peer)
        return _write(peer, batch=batch, seconds=seconds)


def _open_database(path: Path) -> sqlite3.Connection:
    link = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        link.execute(f"PRAGMA {pragma}")
    return link


def _write(link: sqlite3.Connection, *, batch: int, seconds: float) -> float:
    payload, actor, memory, project, at = link.execute(LIKE_OURS).fetchone()
    runs = link.execute(
        "SELECT id, head_seq, last_step, head_hash FROM ledger_run "
        "WHERE project_id = ? ORDER BY id LIMIT ?",
        [project, batch],
    ).fetchall()
    (position,) = link.execute(
        "SELECT position FROM ledger_projecthead WHERE project_id = ?", [project]
    ).fetchone()
    began = time.perf_counter()
    written = 0
    while (elapsed := time.perf_counter() - began) < seconds:
        heads, entries, moved = [], [], []
        for run, seq, step, prev in runs:
            seq, step, position = seq + 1, step + 1, position + 1
            now = f"{position:064x}"
            heads.append((step, step, memory, seq, now, at, run, prev))
            entries.append(
                (run, project, seq, position, at, actor, payload, now, prev, now, step)
            )
            moved.append((run, seq, step, now))
        link.execute("BEGIN IMMEDIATE")
        won = link.executemany(HEAD, heads).rowcount
        assert won == len(runs)
        link.execute(POSITION, [len(runs), project])
        link.executemany(ENTRY, entries)
        link.execute("COMMIT")
        runs = moved
        written += len(runs)
    return written / elapsed
