"""Sets of names, written as one text each."""

from __future__ import annotations


def split_names(text: str) -> frozenset[str]:
    return frozenset(text.split())
