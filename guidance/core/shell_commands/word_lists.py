"""Long lists of names, written as running text."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())
