"""A command split into its parts: every argument in a box of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from guidance.core.shell_commands.findings import Part, Token
from safetext.marks import Mark
from safetext.paths import normalise
from safetext.plain import make_visible, make_visible_line
from safetext.segments import split_segments
from safetext.texts import Group, Page, ShownText, group_segments, show_text

# Of a longer argument only the beginning stands in its box; the text above has it all.
_BOX = 2000
_FOLLOWED = re.compile(r"[^\s$*?`\[{-][^\s$*?`\[{]*/[^\s$*?`\[{]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One argument as the program gets it, or as it is written while that is unknown.

    `written` is the source where the two differ, `leads` the place a path with `..`
    leads to, `left` the number of characters that did not fit.
    """

    groups: tuple[Group, ...]
    unresolved: bool
    written: str
    leads: str
    left: int

    @property
    def rest(self) -> str:
        return f"and {self.left:,} more characters, in full above" if self.left else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRow:
    """A simple command: its name, its arguments, and how it is reached."""

    name: Box
    arguments: tuple[Box, ...]
    count: int
    via: str
    flagged: tuple[str, ...]

    @property
    def size(self) -> str:
        if not self.count:
            return "no arguments"
        return "1 argument" if self.count == 1 else f"{self.count:,} arguments"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCommand:
    text: ShownText
    rows: tuple[CommandRow, ...]


def show_command(
    text: str,
    parts: Sequence[Part],
    *,
    marks: Sequence[Mark] = (),
    page: Page | None = None,
) -> ShownCommand:
    """The text with its marks, and the parts that begin on this page of it."""
    start, end = page or (0, len(text))
    flags = _find_flags(parts, marks)
    return ShownCommand(
        text=show_text(text, marks=marks, page=page),
        rows=tuple(
            _build_row(text, part, flags.get(index, ()))
            for index, part in enumerate(parts)
            if start <= part.span[0] < end
        ),
    )


def _find_flags(
    parts: Sequence[Part], marks: Sequence[Mark]
) -> dict[int, tuple[str, ...]]:
    """The labels of the marks on each part: a wrapper's go to what it runs."""
    found: dict[int, tuple[str, ...]] = {}
    inwards = sorted(
        range(len(parts)), key=lambda at: (-parts[at].span[0], parts[at].span[1], -at)
    )
    for mark in marks:
        nearest: int | None = None
        for index in inwards:
            start, end = parts[index].span
            if start >= mark.end or end <= mark.start:
                continue
            # Those met before began later or with it: this one may hold them.
            if nearest is None or end < nearest:
                found[index] = (*found.get(index, ()), mark.label)
                nearest = end
    return {index: tuple(dict.fromkeys(labels)) for index, labels in found.items()}


def _build_row(text: str, part: Part, flagged: tuple[str, ...]) -> CommandRow:
    boxes = [_build_token_box(text, token, part) for token in part.tokens]
    name = boxes[0] if boxes else _build_box(part.name)
    return CommandRow(
        name=name,
        arguments=tuple(boxes[1:]),
        count=max(len(boxes) - 1, 0),
        via=" → ".join(map(make_visible_line, part.via)),
        flagged=flagged,
    )


def _build_token_box(text: str, token: Token, part: Part) -> Box:
    # A token that is not found in the source has the span of its whole command.
    placed = token.span != part.span or len(part.tokens) == 1
    source = text[slice(*token.span)] if placed else ""
    # Never resolved by us: what depends on the moment is shown as it is written.
    shown = source if token.unresolved and source else token.text
    plainly = {shown, f"'{shown}'", f'"{shown}"', ""}
    return _build_box(
        shown,
        unresolved=token.unresolved,
        written="" if source in plainly else source,
    )


def _build_box(shown: str, *, unresolved: bool = False, written: str = "") -> Box:
    leads = normalise(shown) if _goes_up(shown) else ""
    return Box(
        groups=group_segments(split_segments(shown[:_BOX], one_line=True)),
        unresolved=unresolved,
        written=make_visible_line(written),
        leads=make_visible(leads[:_BOX]),
        left=max(len(shown) - _BOX, 0),
    )


def _goes_up(shown: str) -> bool:
    """A path that can be followed: nothing in it is a pattern or a variable."""
    return ".." in shown.split("/") and _FOLLOWED.fullmatch(shown) is not None
