"""The one redactor: what is stored, logged, pushed or sent went through here.

Redaction is total: after it, no five characters in a row of a secret stand anywhere in
the value, not even where nothing was found (the public start of a known format is no
part of the secret). A secret of three or four characters is hidden wherever it stands,
one that is an ordinary word only where it stands as the secret.
A value with more places that look like secrets than are worth a look is hidden whole.

Keys are read and hidden like every other text. Those that our own code put around what
came from outside are named by `own_keys`, each with all names that lead to it: they
stay, even where a secret happens to be spelled like one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from guidance.core.secrets.eraser import Eraser, SecretFinding
from guidance.core.secrets.inspection import inspect
from guidance.core.secrets.limits import LIMIT
from guidance.core.secrets.quick_check import may_hold_secrets
from guidance.core.secrets.walk import OwnKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """The same value with every secret replaced."""

    value: object
    findings: tuple[SecretFinding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedText:
    text: str
    findings: tuple[SecretFinding, ...]


def find_secrets(
    value: object, *, fingerprint_key: bytes | None = None
) -> tuple[SecretFinding, ...]:
    """Every secret in the decoded value, in its texts, numbers and key names."""
    if not may_hold_secrets(value):
        return ()
    return Eraser(inspect(value), key=fingerprint_key).list_findings()


def redact(
    value: object,
    *,
    fingerprint_key: bytes,
    own_keys: OwnKeys = frozenset(),
    limit: int = LIMIT,
) -> Redacted:
    """The value as it may be kept. A value without secrets comes back as it is.

    `limit` is how much of it is looked at, see `effort`.
    """
    if not may_hold_secrets(value, limit=limit):
        return Redacted(value=value, findings=())
    found = inspect(value, own_keys=own_keys, limit=limit)
    if not found.leaves:
        return Redacted(value=value, findings=())
    eraser = Eraser(found, key=fingerprint_key)
    return Redacted(value=eraser.rebuild(value), findings=eraser.list_findings())


def redact_text(text: str, *, fingerprint_key: bytes) -> RedactedText:
    """The same for one text: a name, a header, an error, a line of a log."""
    done = redact(text, fingerprint_key=fingerprint_key)
    return RedactedText(text=str(done.value), findings=done.findings)
