"""What is shown in the place of a secret: its kind, its length, a keyed fingerprint."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable

from guidance.core.secrets.formats import KINDS
from guidance.core.secrets.hits import REST

# Kinds that are known by where they stand, not by their own form.
OTHER_KINDS = frozenset(
    {"api-key", "authorization", "azure-signature", "credential", "encoded-secret"}
    | {"passphrase", "password", "private-key", "secret", "token", "url-password", REST}
)
_KNOWN = KINDS | OTHER_KINDS | {"hidden"}
# So much of a secret in a row must not be left over anywhere.
WINDOW = 5
# Too short to hold a window of anything.
BARE = "«…»"

_FINGERPRINT = re.compile(r"#([0-9a-f]{8})»$")
_FORM = re.compile(r"«(?:([a-z0-9-]+) \d+ chars(?: #[0-9a-f]{8})?|#[0-9a-f]{8}|…)»")


def compute_fingerprint(secret: str, *, key: bytes) -> str:
    """Eight hex digits that tell two secrets apart, and to others tell nothing."""
    data = secret.encode("utf-8", "surrogatepass")
    return hmac.new(key, data, hashlib.sha256).hexdigest()[:8]


def build_label(
    kind: str, *, length: int, mark: str = "", tells: Callable[[str], bool]
) -> str:
    """The fullest form that does not itself tell a piece of a secret."""
    tail = f" #{mark}" if mark else ""
    forms = (f"«{kind} {length} chars{tail}»", f"«hidden {length} chars{tail}»")
    short = (f"«#{mark}»",) if mark else ()
    return next((form for form in forms + short if not tells(form)), BARE)


def get_fingerprint(label: str) -> str:
    """The fingerprint in a label; empty where it has none."""
    form = _FINGERPRINT.search(label)
    return form[1] if form else ""


def list_windows(text: str, size: int = WINDOW) -> set[str]:
    """Every piece of this size."""
    return {text[at : at + size] for at in range(len(text) - size + 1)}


def is_label(text: str) -> bool:
    """One of our own: what the redactor wrote is not found again."""
    return find_label_end(text, 0) == len(text)


def find_label_end(text: str, start: int) -> int | None:
    """Where the label that begins here ends, None if none does."""
    form = _FORM.match(text, start)
    if form is None or not (form[1] is None or form[1] in _KNOWN):
        return None
    return form.end()
