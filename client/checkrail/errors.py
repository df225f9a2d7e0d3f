"""Errors of this package: a wrong set-up, a bad answer, a server that does not answer."""

from __future__ import annotations


class CheckrailError(Exception):
    """Everything that this package raises on purpose."""


class ConfigurationError(CheckrailError):
    """No address, no key, or one that cannot be one."""


class ProtocolError(CheckrailError):
    """An answer that is not the contract's: it is never taken for a permission."""


class Unreachable(CheckrailError):
    """No answer in the allowed time. Nothing was allowed."""
