"""Names that say of themselves that nothing in them is to be kept: `app_test`, `ci-4`.

A name counts by its parts, and not where another part says that people rely on it.
"""

from __future__ import annotations

import re

from guidance.core.shell_commands.paths import is_temporary
from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.word_lists import split_names

_SCRATCH = split_names(
    "test tests testing scratch tmp temp sandbox ci e2e throwaway playground fixture "
    "fixtures pytest integration"
)
_DEVELOPMENT = split_names("dev devel development local")
_RELIED_ON = split_names(
    "prod production live staging stage prd release master customer customers results"
)
_NAME = re.compile(rf"[\w.{UNKNOWN}-]+")
_PARTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z]{2})\d+")
_LONGEST = 128
_ADDRESS = re.compile(
    r"(?:(?:jdbc:)?[a-z][a-z0-9+]*://(?:[^@/\s]*@)?"
    r"(?P<host>\[[^\]]*\]|[^:/?;\s]*(?![^:/?;\s]))(?::\d+)?/?|jdbc:[a-z0-9]+:|sqlite3?:|file:)"
    r"(?P<name>[^?\s]*)(?:\?\S*)?",
    re.IGNORECASE,
)
_IN_MEMORY = re.compile(r"(?:.*:)?(?:/{2,3})?:?mem(?:ory)?:?(?:[^/]*)", re.IGNORECASE)
_OWN_MACHINE = re.compile(
    r"(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal"
    r"|/(?:var/)?(?:run|tmp)\b.*)",
    re.IGNORECASE,
)
# A service of the same Compose project has a name without a dot.
_SERVICE = re.compile(r"[a-z][a-z0-9_-]{0,30}")


def is_scratch_name(name: str) -> bool:
    """One word, a part of which says that it is for tests or for now."""
    return _says(name, _SCRATCH)


def is_development_name(name: str) -> bool:
    """The same for what one developer works with."""
    return _says(name, _DEVELOPMENT)


def _says(name: str, words: frozenset[str]) -> bool:
    if len(name) > _LONGEST or _NAME.fullmatch(name) is None:
        return False
    parts = _split(name)
    return not words.isdisjoint(parts) and _RELIED_ON.isdisjoint(parts)


def _split(name: str) -> list[str]:
    """At signs, at capitals, and before a number: `AppTest4` is app and test."""
    return _PARTS.sub(" ", name).lower().split()


def is_scratch_path(path: str) -> bool:
    """A file whose name, or one of its folders, says so: `docker-compose.test.yml`."""
    return any(map(is_scratch_name, path.split("/"))) and _RELIED_ON.isdisjoint(
        _split(path)
    )


def is_own_host(host: str) -> bool:
    """This machine, or a service beside it; none given is this one."""
    if not host or _OWN_MACHINE.fullmatch(host):
        return True
    return _SERVICE.fullmatch(host) is not None and _RELIED_ON.isdisjoint(_split(host))


def is_loopback(host: str) -> bool:
    return _OWN_MACHINE.fullmatch(host) is not None


def is_address(text: str) -> bool:
    return len(text) < 512 and ":" in text and _ADDRESS.fullmatch(text) is not None


def split_address(text: str) -> tuple[str, str]:
    """The host and the database of `postgres://user:word@host:5432/name?options`."""
    found = _ADDRESS.fullmatch(text[:512])
    if found is None:
        return "", ""
    return found["host"] or "", found["name"]


def is_scratch_address(text: str) -> bool:
    """A database for tests on this machine, in memory, or in a temporary file."""
    if _IN_MEMORY.fullmatch(text):
        return True
    host, name = split_address(text)
    if text.lower().startswith(("sqlite", "file:")):
        name = name or host
        return is_temporary(name) or is_scratch_name(name.rpartition("/")[2])
    return is_own_host(host) and is_scratch_name(name.strip("/"))
