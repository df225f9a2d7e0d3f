"""Pages in a form that a difference can be read in.

Lines lose their indentation, empty lines go, and long lines are broken before a tag. A hash of
the text before that stands at the end, so that no change of a byte stays unseen. What frames
a page (all but its `main`) is kept once, and so is a page that is shown again, to another
person or as a part: then there are only the lines that differ.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from tests.golden.writing import digest

LONGEST = 110
_MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)


def write_page(text: str, frame: str, shown: list[str]) -> tuple[str, list[str]]:
    """Write what differs from what was shown, then what differs from the frame.

    Where nothing was shown before, all lines between `main` are written. Also returns the
    lines that the next page of this name is compared with.
    """
    found = _MAIN.search(text)
    inner = found[0] if found else text
    lines = break_lines(inner)
    written = _list_changes(shown, lines) if shown else lines
    written = [*written, f"--- {digest(inner)}"]
    if found:
        rest = text[: found.start()] + "\n" + text[found.end() :]
        framed = _MAIN.sub("\n", frame, count=1)
        changed = _list_changes(break_lines(framed), break_lines(rest))
        if changed:
            written += ["--- beside the frame", *changed]
    return "\n".join(written), shown or lines


def write_part(text: str) -> str:
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
