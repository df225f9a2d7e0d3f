"""Invisible characters written out, for one-line places: rows, titles, mail, logs."""

from __future__ import annotations

import re

from safetext.characters import escape, find_invisible_runs

_WRAPS = re.compile(r"[ \t\n]+")


def make_visible(text: str) -> str:
    """Write out every invisible character, as in ⟨U+202E⟩.

    No two texts come out alike.
    """
    parts: list[str] = []
    done = 0
    for start, end, _ in find_invisible_runs(text):
        parts += (text[done:start], escape(text[start]) * (end - start))
        done = end
    return "".join(parts) + text[done:] if parts else text


def make_visible_line(text: str, *, limit: int = 300) -> str:
    """`make_visible` on one line, cut to a length that fits in a row."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    # Only what wraps anyway is folded; every other kind of space is shown for itself.
    return make_visible(_WRAPS.sub(" ", cut).strip(" "))
