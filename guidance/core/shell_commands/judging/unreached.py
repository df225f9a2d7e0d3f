"""Commands of a script that its first argument keeps it from: `case "$1" in reset) …`.

A script that the same command has written and run is read as a whole, but it does only what
it is told. Read are the usual forms, line by line; anything else counts as reached.
"""

from __future__ import annotations

import re

from guidance.core.shell_commands.shell.tree import UNKNOWN

_FIRST = r"[\"']?\$(?:1|\{1(?::?-(?P<otherwise>[^}\"]{0,40}))?\})[\"']?"
_CASE = re.compile(rf"\s*case\s+{_FIRST}\s+in\b")
_BRANCH = re.compile(r"\s*\(?([\w|*?\" '-]{1,80})\)")
_IF = re.compile(
    rf"\s*if\s+\[\[?\s+{_FIRST}\s+={{1,2}}\s+[\"']?(?P<word>[\w-]{{1,40}})[\"']?\s+\]\]?\s*;?\s*(?:then)?"
)
_LEAVES = re.compile(
    rf"^\s*\[\[?\s+{_FIRST}\s+={{1,2}}\s+[\"']?(?P<word>[\w-]{{1,40}})[\"']?\s+\]\]?\s*&&\s*"
    r"(?:\{[^\n]{0,200}\bexit\b|exit\b)",
    re.MULTILINE,
)
_LONGEST = 16_384
_MOST_LINES = 300


def is_unreached(text: str, place: int, positional: tuple[str, ...] | None) -> bool:
    """Is the place behind a condition that the first argument does not meet?"""
    if positional is None or len(text) > _LONGEST or "shift" in text:
        return False
    first = positional[0] if positional else ""
    if UNKNOWN in first or ("$1" not in text and "${1" not in text):
        return False
    for found in _LEAVES.finditer(text, 0, place):
        if found["word"] == (first or found["otherwise"] or ""):
            return True
    return _is_below_other(text[:place], first)


def _is_below_other(before: str, first: str) -> bool:
    closed = cases = 0
    branch: str | None = None
    for line in reversed(before.split("\n")[-_MOST_LINES:]):
        word = line.split(None, 1)[0].strip(";") if line.split() else ""
        if word == "fi":
            closed += 1
        elif word == "esac":
            cases += 1
        elif word == "case":
            if cases:
                cases -= 1
            elif branch is not None and (found := _CASE.match(line)):
                return not _matches(branch, first or found["otherwise"] or "")
            else:
                branch = None
        elif word in ("else", "elif") and not closed:
            return False
        elif word == "if":
            if closed:
                closed -= 1
            else:
                condition = _IF.fullmatch(line)
                if condition is not None:
                    given = first or condition["otherwise"] or ""
                    if condition["word"] != given:
                        return True
        elif not cases and branch is None and (found := _BRANCH.match(line)):
            branch = found[1]
    return False


def _matches(branch: str, first: str) -> bool:
    """Perhaps by one of its patterns: what a star or a question mark takes is not read."""
    for pattern in branch.split("|"):
        plain = pattern.strip(" \"'")
        if plain == first or "*" in plain or "?" in plain:
            return True
    return False
