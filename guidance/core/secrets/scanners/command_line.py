"""How far one simple command goes: over quotes and continued lines, not over ; | and &."""

from __future__ import annotations

import re

# So far a command is read.
LINE_LIMIT = 1_000
_COMMAND = re.compile(
    r"(?:[^\\\n\"';|&]+|\\[\s\S]|\"[^\"\\]*(?:\\[\s\S][^\"\\]*)*\"|'[^']*'|[\"'])*"
)


def find_command_end(text: str, start: int) -> int:
    command = _COMMAND.match(text, start, start + LINE_LIMIT)
    assert command is not None
    return command.end()
