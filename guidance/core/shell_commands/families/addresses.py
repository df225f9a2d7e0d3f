"""Addresses that matter by themselves, wherever they are asked."""

from __future__ import annotations

from guidance.core.regex import compile_byte_pattern, encode_one_byte

_METADATA = compile_byte_pattern(
    r"169\.254\.169\.254\S*(?:security-credentials|/identity|/token|user-data|api/token\S*credentials)"
    r"|metadata\.google\.internal\S*(?:token|identity|attributes)"
    r"|169\.254\.170\.2|metadata/identity/oauth2/token|100\.100\.100\.200\S*ram/security-credentials"
)


def is_metadata_address(address: str) -> bool:
    """Where a cloud hands out the credentials of a machine."""
    return _METADATA.search(encode_one_byte(address)) is not None
