"""Places where a framework can act, and the refusal of those that cannot be governed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from checkrail.errors import CheckrailError


class Ungoverned(CheckrailError):
    """The framework could act here with nobody asked. `names` is what it is."""

    def __init__(
        self, names: Iterable[str], why: str, *, by_choice: bool = True
    ) -> None:
        self.names = tuple(dict.fromkeys(names))
        words = f"Ungoverned: {', '.join(self.names)}. {why}"
        if by_choice:
            quoted = ", ".join(map(repr, self.names))
            words += f" To let it act with nobody asked: ungoverned=[{quoted}]."
        super().__init__(words)


def check_names(ungoverned: Iterable[str], known: Collection[str]) -> frozenset[str]:
    """What is let through on purpose, once each name is one that means something."""
    if isinstance(ungoverned, str):
        raise TypeError(f"ungoverned is a list of names: [{ungoverned!r}].")
    names = frozenset(ungoverned)
    unknown = sorted(names - frozenset(known))
    if unknown:
        raise ValueError(
            f"ungoverned names nothing that is known here: {', '.join(unknown)}. "
            f"Known: {', '.join(sorted(known))}."
        )
    return names
