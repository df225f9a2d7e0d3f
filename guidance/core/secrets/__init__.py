"""Secrets: found in decoded values and key names, and hidden before anything keeps them.

Rules, each in linear time on RE2: over 160 public token formats by their own form
(`formats`), private key blocks, credentials in addresses and Authorization headers,
passwords that commands and SQL statements are given, and values assigned to names that
promise a secret, in code, env files, YAML, JSON, INI, TOML, XML and flags. How random a
value looks counts only behind such a name, and a UUID only where the name can mean nothing
else. Placeholders, references to the environment, a vault or a file, hashes, public keys
and integrity strings are let alone, and so is what guards nothing: defaults of development
that no other host is named beside, words in tests, keys from documentation (`defaults`,
`surroundings`).

Also found: tokens with invisible characters in them, known formats cut by a line end or
by a joint of two strings after their public start, and any of it in base64.

Known misses, which a person or another layer has to catch:
- secrets without a known form where no name promises one; passwords in prose ("the
  password is hunter"), in .pgpass, in cookies other than session ids;
- passwords that are several plain words, a plain capitalised word without quotes, equal
  to their own name ("password"), or words such as "test" and "example";
- secrets in hex, percent-encoding, HTML entities, compression or encryption, in base64 of
  base64, in full-width or look-alike letters, spelled backwards or character by character;
- formats cut inside their public start, or cut more than eight times; the next lines of
  a token that is already whole at the end of the first one;
- runs of digits as tokens; user names alone as tokens in addresses;
- real passwords that are spelled like a default (`postgres`, `dev-secret`), or that are
  words in a test.
"""

from __future__ import annotations

from guidance.core.secrets.eraser import SecretFinding
from guidance.core.secrets.hits import REST as UNREAD
from guidance.core.secrets.labels import get_fingerprint
from guidance.core.secrets.quick_check import may_hold_secrets
from guidance.core.secrets.redaction import (
    Redacted,
    RedactedText,
    find_secrets,
    redact,
    redact_text,
)
from guidance.core.secrets.scan import warm_up
from guidance.core.secrets.scanners.command_line import find_command_end

__all__ = [
    "UNREAD",
    "Redacted",
    "RedactedText",
    "SecretFinding",
    "find_command_end",
    "find_secrets",
    "get_fingerprint",
    "may_hold_secrets",
    "redact",
    "redact_text",
    "warm_up",
]
