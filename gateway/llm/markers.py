"""Markers around a text from a stranger, and one line of what a model said."""

from __future__ import annotations

import secrets

from guidance.redactor import clean


def draw_marker(text: str) -> str:
    """Sixteen random bytes that do not stand in the text, not even by chance."""
    while (drawn := secrets.token_hex(16)) in text.lower():
        pass
    return drawn


def shorten_reason(reason: str, *, most: int) -> str:
    """One line: it is shown beside other words, and must not look like several."""
    line = " ".join(clean(reason).split())
    return line if len(line) <= most else line[: most - 1] + "…"
