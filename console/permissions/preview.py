"""What a standing permission covers, for a reader: the call with its changing parts.

A permission keeps the call as canonical JSON; where only its shape counts, a sign that no
call has stands for every part that may change, and is shown as a marked #.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from console.format import format_count
from guidance.core.tools.permission_shapes import MAY_CHANGE
from safetext import Mark, ShownText, make_visible_line, show_text

# Of a longer text the beginning is shown; the review has all of it.
TEXT_LIMIT = 2_000
LINES_LIMIT = 20
PARTS_LIMIT = 20
LABEL = "may change"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveragePart:
    """One text of the call; `name` is empty for a command, `left` did not fit."""

    name: str
    shown: ShownText
    left: int

    @property
    def rest(self) -> str:
        """What of the text is not shown; empty where all of it is."""
        if not self.left:
            return ""
        return f" … and {format_count(self.left, 'more character')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """`more` counts the arguments that did not fit."""

    parts: tuple[CoveragePart, ...]
    more: int

    @property
    def rest(self) -> str:
        """Arguments that are not shown; empty where all of them are."""
        return f" and {format_count(self.more, 'more argument')}" if self.more else ""


def describe_coverage(covers: str) -> Coverage:
    """What a permission says; where only the shape counts, # is what may change."""
    texts = list(_list_texts(json.loads(covers)))
    return Coverage(
        parts=tuple(_build_part(name, text) for name, text in texts[:PARTS_LIMIT]),
        more=max(0, len(texts) - PARTS_LIMIT),
    )


def _list_texts(call: dict[str, Any]) -> Iterator[tuple[str, str]]:
    command = call.get("command")
    if command is not None:
        yield "", command
    for name, value in (call.get("arguments") or {}).items():
        # A tool may receive the command among its arguments, too.
        if command is None or (name, value) != ("command", command):
            yield name, value if isinstance(value, str) else _format_json(value)
    for name in ("file_path", "content"):
        if name in call:
            yield name, call[name]


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _build_part(name: str, text: str) -> CoveragePart:
    lines = text[:TEXT_LIMIT].splitlines(keepends=True)
    start = "".join(lines[:LINES_LIMIT])
    marks = [
        Mark(start=at, end=at + 1, label=LABEL)
        for at, letter in enumerate(start)
        if letter == MAY_CHANGE
    ]
    return CoveragePart(
        name=make_visible_line(name),
        shown=show_text(start.replace(MAY_CHANGE, "#"), marks=marks),
        left=len(text) - len(start),
    )
