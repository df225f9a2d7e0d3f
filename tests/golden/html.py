"""Pages in a form that a difference can be read in.

Lines lose their indentation, empty lines go, icons are named, and long lines are broken before
a tag. A hash of the text before that stands at the end, so that no change of a byte stays
unseen. What frames a page (all but its `main`) is kept once, and so is a page that is shown
again, to another person, as a part or of another run: then only the lines that differ.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from tests.golden.writing import digest

LONGEST = 110
_ICON = re.compile(
    r'<svg class="icon" aria-hidden="true"><use href="#i-([\w-]+)"/></svg>'
)
_MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)


def write_page(text: str, frame: str, shown: list[str]) -> tuple[str, list[str]]:
    """Write what differs from what was shown, then what differs from the frame.

    Where nothing was shown before, all lines between `main` are written. Also returns the
    lines that the next page of this name is compared with.
    """
    found = _MAIN.search(text)
    inner = found[0] if found else text
    lines = break_lines(inner)
    changes = _list_changes(shown, lines)
    # What has little in common with it is told as a whole.
    is_alike = bool(shown) and sum(map(len, changes)) < sum(map(len, lines)) / 2
    written = [*(changes if is_alike else lines), f"--- {digest(inner)}"]
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
        short = _ICON.sub(r"[icon \1]", line.strip())
        if len(short) > LONGEST:
            lines += [part for part in re.split(r"(?=<[a-z])", short) if part]
        elif short:
            lines.append(short)
    return lines


def _list_changes(before: list[str], after: list[str]) -> list[str]:
    shortest = min(len(before), len(after))
    same = 0
    while same < shortest and before[same] == after[same]:
        same += 1
    before, after = before[same:], after[same:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    changes = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if tag != "equal":
            changes += [f"- {line}" for line in before[start:end]]
            changes += [f"+ {line}" for line in after[other_start:other_end]]
    return changes
