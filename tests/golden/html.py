"""Pages in a form that a difference can be read in.

Lines lose their indentation, empty lines go, and long lines are broken before a tag. A hash of
the text before that stands at the end, so that no change of a byte stays unseen. What frames
a page (all but its `main`) is kept once; a page has only the lines that differ from it.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from tests.golden.writing import digest

LONGEST = 110
_MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)


def write_page(text: str, frame: str) -> str:
    """The part between `main` as it is, then what frames it, as a difference."""
    found = _MAIN.search(text)
    if found is None:
        return write_fragment(text)
    rest = text[: found.start()] + "\n" + text[found.end() :]
    framed = _MAIN.sub("\n", frame, count=1)
    lines = [write_fragment(found[0])]
    changed = list(_list_changes(break_lines(framed), break_lines(rest)))
    if changed:
        lines += ["--- beside the frame", *changed]
    return "\n".join(lines)


def write_fragment(text: str) -> str:
    return "\n".join([*break_lines(text), f"--- {digest(text)}"])


def break_lines(text: str) -> list[str]:
    lines = []
    for line in text.splitlines():
        short = line.strip()
        if len(short) > LONGEST:
            lines += [part for part in re.split(r"(?=<[a-z])", short) if part]
        elif short:
            lines.append(short)
    return lines


def _list_changes(before: list[str], after: list[str]) -> list[str]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    changes = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if tag != "equal":
            changes += [f"- {line}" for line in before[start:end]]
            changes += [f"+ {line}" for line in after[other_start:other_end]]
    return changes
