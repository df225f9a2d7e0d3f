"""Which files have no other copy: version control does not hold them, nothing makes them again.

Settings with secrets, databases, keys, the state of infrastructure, and what stands in a
home. Names that say test, example or temporary are no such files.
"""

from __future__ import annotations

import re

_LONGEST = 1_000
_HOME = r"(?:~|/root|/home/[^/]+|/Users/[^/]+|[A-Za-z]:/Users/[^/]+)"
_OWN = re.compile(
    r"(?:.*/)?(?:\.env(?:\.(?!example|sample|template|dist|test|ci)[\w.-]+)?"
    r"|[^/]+\.(?:db|sqlite3?|mdf|ldf|mdb|ibd|rdb|aof|pem|key|p12|pfx|jks|keystore|kdbx"
    r"|tfstate(?:\.backup)?)|id_(?:rsa|dsa|ecdsa|ed25519))",
    re.IGNORECASE,
)
_IN_HOME = re.compile(
    rf"{_HOME}/(?:\.(?:ssh|aws|kube|gnupg|docker|azure)/.+|\.config/.+"
    r"|\.(?!cache|local|npm|cargo|rustup|nvm|pyenv)[\w.-]+)"
)
_MADE_UP = re.compile(
    r"(?:^|[/._-])(?:tests?|example|sample|tmp|temp|cache|scratch|demo)\b"
)
# Files that are meant to be empty.
_MARKERS = re.compile(
    r"(?:.*/)?(?:__init__\.pyi?|py\.typed|\.(?:git)?keep|\.nojekyll|\.gitignore"
    r"|\.npmignore|\.hushlogin|[^/]*empty[^/]*)"
)
_LOG = re.compile(r"(?:\./)?(?:[\w-][\w.-]*/){0,8}logs?/[\w-][\w.-]*\.log")
_SLASHES = re.compile(r"[\\/]+")


def is_irreplaceable(path: str) -> bool:
    return is_own_data(path) or is_home_setting(path)


def is_own_data(path: str) -> bool:
    """Settings, databases, keys and states, wherever they stand."""
    path = _SLASHES.sub("/", path)
    return _OWN.fullmatch(path) is not None and _MADE_UP.search(path) is None


def is_home_setting(path: str) -> bool:
    """A dot file of a home, caches left out."""
    if path[:1] not in ("~", "/") and path[1:2] != ":":
        return False
    return bool(_IN_HOME.fullmatch(_SLASHES.sub("/", path)))


def is_own_log(path: str) -> bool:
    """A log of the project in its folder for logs."""
    return len(path) <= _LONGEST and _LOG.fullmatch(path) is not None


def is_marker(path: str) -> bool:
    """Empty on purpose: nothing was ever in it."""
    return len(path) <= _LONGEST and _MARKERS.fullmatch(path) is not None
