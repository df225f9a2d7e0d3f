"""Names of tools: whether one is valid and allowed, and the key of a call."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from guidance.core.canonical import to_canonical_json

TOOL_NAME_LIMIT = 128


def build_call_key(
    *, run: str, tool: str, arguments: Mapping[str, object], policy_hash: str
) -> str:
    """64 hex digits, the same for the same call in the same run under the same policy.

    The order of keys does not matter, that of lists does. A key left out is another
    call than one that is null.
    """
    call = {
        "arguments": dict(arguments),
        "policy_hash": policy_hash,
        "run": run,
        "tool": tool,
    }
    return hashlib.sha256(to_canonical_json(call).encode()).hexdigest()


def is_allowlisted(tool: str, patterns: Iterable[str] | None) -> bool:
    """None is no list at all and allows every tool; an empty list allows none.

    A pattern is a name, or the beginning of names and a star. Case counts.
    """
    if patterns is None:
        return True
    return any(
        tool.startswith(pattern[:-1]) if pattern.endswith("*") else tool == pattern
        for pattern in patterns
    )


def choose_pattern(patterns: Iterable[str], name: str) -> str | None:
    """Of the patterns that fit, the name itself, else the longest beginning."""
    known = [pattern for pattern in patterns if is_allowlisted(name, [pattern])]
    if name in known and not name.endswith("*"):
        return name
    beginnings = [pattern for pattern in known if pattern.endswith("*")]
    return max(beginnings, key=len, default=None)


# The form of a pattern as a schema can say it: which letters can be seen it cannot.
TOOL_PATTERN = rf"\*|(?!\s)(?!.*  )[^*]{{0,{TOOL_NAME_LIMIT - 1}}}[^*\s]\*?"


def find_pattern_problem(pattern: str) -> str | None:
    """Why a pattern of the allowlist would not do what it seems to, None if it does."""
    if not pattern.strip():
        return "an empty pattern allows nothing"
    if "*" in pattern[:-1]:
        return "a star may only stand at the end"
    return None if pattern == "*" else find_tool_problem(pattern.removesuffix("*"))


def find_tool_problem(name: str) -> str | None:
    """Why this cannot be the name of a tool, None if it can.

    Only what is seen and cannot be mistaken: letters and digits of any script, printable
    ASCII signs, single blanks within. No marks of direction, no invisible characters.
    """
    if not name:
        return "the name is empty"
    if len(name) > TOOL_NAME_LIMIT:
        return f"the name is longer than {TOOL_NAME_LIMIT} characters"
    if name != name.strip() or "  " in name:
        return "the name begins or ends with a blank, or has two in a row"
    for char in name:
        if not (char.isalnum() or (char.isascii() and char.isprintable())):
            return f"the name holds U+{ord(char):04X}, which cannot be seen or mistaken"
    return None
