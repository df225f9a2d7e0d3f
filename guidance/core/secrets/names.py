"""Which names say that their value is a secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from guidance.core.secrets.vocabulary import (
    HASHES,
    KEYS,
    NONSECRET_LEADS,
    OPEN_TOKENS,
    SHORT_PASSWORDS,
    TRAILERS,
    UUID_KEYS,
    UUID_TOKENS,
    VERBS,
)


class Promise(NamedTuple):
    """What a name promises. A strong one needs no further sign in the value.

    `by_uuid` says that a UUID behind the name is the secret, and not just an id.
    """

    kind: str
    strong: bool
    by_uuid: bool = False


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK = re.compile(r"[^A-Za-z0-9]+")

# One of these is in every name that promises anything.
_STEMS = ("pass", "pw", "secret", "token", "key", "cred", "auth", "bearer", "session")
# Of longer names the beginning does not count.
_NAME_LIMIT = 200

_PASSWORDS = ("password", "passwd", "passcode", "passwort", "pwd")
_JOINED_KEYS = tuple(
    f"{sort}key" for sort in ("api", "access", "private", "auth", "account", "signing")
)


def may_promise(names: Sequence[str]) -> bool:
    """Says at once that none of them promises anything, as is usual."""
    folded = "\n".join(names).lower()
    return any(stem in folded for stem in _STEMS) and any(map(read_promise, names))


def read_promise(name: str) -> Promise | None:
    """What the name promises, None for most names."""
    name = name[-_NAME_LIMIT:]
    folded = name.lower()
    for stem in _STEMS:
        if stem in folded:
            break
    else:
        return None
    words = [word.lower() for word in _BREAK.split(_HUMP.sub("_", name)) if word]
    while len(words) > 1 and (words[-1] in TRAILERS or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last = words[-1].rstrip("0123456789") or words[-1]
    before = words[:-1]
    if before and (before[0] in NONSECRET_LEADS or not HASHES.isdisjoint(before)):
        return None
    if name in ("PWD", "OLDPWD"):
        # The working directory.
        return None
    strong = _find_password_promise(last, before) or _find_secret_promise(last, before)
    if strong is not None:
        is_verb = bool(before) and before[0] in VERBS
        return strong._replace(strong=False) if is_verb else strong
    return _find_weaker_promise(
        last, before, alone=name.startswith("-") or name.isupper()
    )


def _find_password_promise(last: str, before: list[str]) -> Promise | None:
    if last.endswith(_PASSWORDS) or last in SHORT_PASSWORDS:
        return Promise("password", strong=True)
    if last in ("pass", "pw"):
        # Alone it may count tests that passed.
        return Promise("password", strong=bool(before))
    if last.endswith("passphrase") or [*before[-1:], last] == ["pass", "phrase"]:
        return Promise("passphrase", strong=True)
    return None


def _find_secret_promise(last: str, before: list[str]) -> Promise | None:
    if last.endswith("secret"):
        return Promise("secret", strong=True)
    if last.endswith("secretkey") or (last == "key" and before[-1:] == ["secret"]):
        return Promise("secret", strong=True)
    if last == "base" and before[-2:] == ["secret", "key"]:
        return Promise("secret", strong=True)
    return None


def _find_weaker_promise(
    last: str, before: list[str], *, alone: bool
) -> Promise | None:
    """`alone` says that the name is a flag or a variable: --token, TOKEN."""
    if last.endswith("token"):
        opening = before[-1] if before else last.removesuffix("token")
        if opening in OPEN_TOKENS:
            return None
        by_uuid = opening not in UUID_TOKENS if opening else alone
        return Promise("token", strong=False, by_uuid=by_uuid)
    if last == "key" and before and before[-1] in KEYS:
        kind = "private-key" if before[-1] == "private" else "api-key"
        return Promise(kind, strong=False, by_uuid=before[-1] in UUID_KEYS)
    if last.endswith(_JOINED_KEYS):
        return Promise("api-key", strong=False, by_uuid=True)
    if last in ("credential", "credentials", "cred", "creds"):
        return Promise("credential", strong=False)
    if last in ("auth", "authorization", "bearer", "sessionid", "jsessionid"):
        return Promise("authorization", strong=False)
    return None
