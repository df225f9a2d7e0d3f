"""Commands to copy that are right for this server."""

from __future__ import annotations

import json
import shlex

_NO_KEY = "crk_…"


def build_first_step_commands(*, address: str, key: str = "") -> str:
    """A run and its first step by curl, in any POSIX shell; without a `key` it has to be
    put in."""
    headers = (
        '-H "Authorization: Bearer $CHECKRAIL_KEY" -H "Content-Type: application/json"'
    )
    start = shlex.quote(json.dumps({"task": "My first run"}))
    step = {"number": 1, "tokens": 1200, "tool_calls": 1, "summary": "Looked around"}
    return "\n".join(
        (
            f"export CHECKRAIL_URL={shlex.quote(address)} CHECKRAIL_KEY={key or _NO_KEY}",
            f'run=$(curl -sS "$CHECKRAIL_URL/api/v1/runs" {headers} \\',
            f'  -d {start} | sed \'s/^{{"id":"\\([^"]*\\).*/\\1/\')',
            f'curl -sS "$CHECKRAIL_URL/api/v1/runs/$run/steps" {headers} \\',
            f"  -d {shlex.quote(json.dumps(step))}",
        )
    )
