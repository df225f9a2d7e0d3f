"""Names of what an author lets act with nobody asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def read_names(ungoverned: Iterable[str]) -> frozenset[str]:
    """Read the names of what is let through on purpose."""
    if isinstance(ungoverned, str):
        raise TypeError(f"ungoverned is a list of names: [{ungoverned!r}].")
    return frozenset(ungoverned)


def check_names(ungoverned: Iterable[str], known: Collection[str]) -> frozenset[str]:
    """The same, where each name has to be one that is known."""
    names = read_names(ungoverned)
    unknown = sorted(names - frozenset(known))
    if unknown:
        raise ValueError(
            f"ungoverned names nothing that is known here: {', '.join(unknown)}. "
            f"Known: {', '.join(sorted(known))}."
        )
    return names
