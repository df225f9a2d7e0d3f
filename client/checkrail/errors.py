"""Errors of this package: a wrong set-up, a bad answer, a server that does not answer."""

from __future__ import annotations

from collections.abc import Iterable


class CheckrailError(Exception):
    """Everything that this package raises on purpose."""


class ConfigurationError(CheckrailError):
    """No address, no key, or one that cannot be one."""


class ProtocolError(CheckrailError):
    """An answer that is not the contract's: it is never taken for a permission."""


class Unreachable(CheckrailError):
    """No answer in the allowed time. Nothing was allowed."""


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
