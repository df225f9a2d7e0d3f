"""Whether this program runs inside an agent's session, and the mark that says so.

What an agent is asked about, a person answers. A coding agent's shell has the person's
environment and may find their token there, so everything that is sent with it from inside
a session carries a mark, and the server does not take a ruling from there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

VARIABLE = "CHECKRAIL_AGENT_SESSION"
HEADER = "Checkrail-Agent-Session"
# What coding agents set in the shells they start.
_HOSTS = (
    ("CLAUDECODE", "claude-code"),
    ("CLAUDE_CODE_ENTRYPOINT", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_CLI", "gemini-cli"),
    ("CURSOR_AGENT", "cursor"),
    ("OPENCODE", "opencode"),
)
_UNFIT = re.compile(r"[^\w.:-]")
_LONGEST = 200


def get_agent_session(environment: Mapping[str, str] | None = None) -> str:
    """Which session this is, empty outside of one."""
    found = os.environ if environment is None else environment
    if marked := found.get(VARIABLE):
        return _clean(marked)
    return next((host for name, host in _HOSTS if found.get(name)), "")


def build_mark(host: str, session: object) -> str:
    """What a hook writes into the environment of the session that it has seen begin."""
    return _clean(f"{host}:{session}")


def _clean(mark: str) -> str:
    return _UNFIT.sub("-", mark)[:_LONGEST]
