"""The same without a page: for rows, titles, mail, chat, logs and terminals."""

from __future__ import annotations

import re

from safetext.characters import escaped, unseen

_WRAPS = re.compile(r"[ \t\n]+")


def visible(text: str) -> str:
    """The text with every unseen character written out, as in ⟨U+202E⟩.

    No two texts come out alike.
    """
    parts: list[str] = []
    done = 0
    for at, _ in unseen(text):
        parts += (text[done:at], escaped(text[at]))
        done = at + 1
    return "".join(parts) + text[done:] if parts else text


def visible_line(text: str, *, limit: int = 300) -> str:
    """The same on one line, cut to a length a row can carry."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    # Only what wraps anyway is folded; every other kind of space is shown for itself.
    return visible(_WRAPS.sub(" ", cut).strip(" "))
