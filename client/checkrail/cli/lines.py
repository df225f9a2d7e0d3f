"""Values of agents as lines of a terminal: none can pass for a line of ours.

Names are one line each. Every line of a text begins with a bar below its name, what is
nested stands deeper, and a line that is too long goes on below itself, never at the left
edge, where our own words stand.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from checkrail.cli.safe_text import make_visible

PLAIN_NAME = re.compile(r"[A-Za-z0-9_.$@/-]+")
INDENT, BAR, GOES_ON = "  ", "| ", "… "
# What a folded line leaves for its text, however deep it stands.
NARROWEST = 8


def render_line(text: str) -> str:
    """On one line, with line feeds spelled out as well."""
    return make_visible(text).replace("\n", "⟨U+000A⟩")


def render_name(name: str) -> str:
    """As it is where it is plain, else in quotes: it ends where its quotes end."""
    if PLAIN_NAME.fullmatch(name):
        return name
    return make_visible(json.dumps(name, ensure_ascii=False))


def render_named(name: str, value: Any) -> Iterator[str]:
    """The name, and the value beside or below it; what is empty is shown as such."""
    below = [*_render_value(value)]
    if _is_single_line(value):
        yield f"{render_name(name)}: {below[0]}"
    else:
        yield f"{render_name(name)}:"
        yield from (INDENT + line for line in below)


def _is_single_line(value: Any) -> bool:
    return not isinstance(value, str | list | Mapping) or not value


def _render_value(value: Any) -> Iterator[str]:
    if _is_single_line(value):
        yield json.dumps(value)
    elif isinstance(value, str):
        yield from (BAR + line for line in make_visible(value).split("\n"))
    elif isinstance(value, list):
        for item in value:
            first, *others = _render_value(item)
            yield f"- {first}"
            yield from (INDENT + line for line in others)
    else:
        for name, part in value.items():
            yield from render_named(name, part)


def fold_line(line: str, *, width: int) -> Iterator[str]:
    """The line in pieces that fit; each but the first begins below with a mark."""
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    bar = BAR if text.startswith(BAR) else ""
    if _count_cells(line) <= width:
        yield line
        return
    indent = max(0, min(indent, width - len(GOES_ON) - NARROWEST))
    room = width - indent - len(GOES_ON)
    lead, text = " " * indent + bar, text[len(bar) :]
    while text:
        piece = _cut_to_fit(text, room)
        yield lead + piece
        lead, text = " " * indent + GOES_ON, text[len(piece) :]


def _cut_to_fit(text: str, room: int) -> str:
    used = 0
    for place, character in enumerate(text):
        used += _count_cells(character)
        if used > room and place:
            return text[:place]
    return text


def _count_cells(text: str) -> int:
    """How wide a terminal draws it; in doubt as wider."""
    return sum(2 if unicodedata.east_asian_width(c) in "WFA" else 1 for c in text)
