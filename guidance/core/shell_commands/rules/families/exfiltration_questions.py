"""The conditions of rules about data that leaves."""

from __future__ import annotations

import re

from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question

_WIDE = re.compile(
    r"(?:/|~|/(?:home|root|etc|users|var|opt|srv)(?:/[^/]+)?|c:[\\/]?)/?", re.IGNORECASE
)
_ADDRESS = re.compile(r"(?:https?|git|ssh|ftp|file)://.*|[\w.-]+@[\w.-]+:.*")
_REGISTRY = re.compile(r"[\w.-]+\.[a-z]{2,}(?::\d+)?/.*")
_KNOWN_REGISTRY = re.compile(
    r"(?:ghcr\.io|docker\.io|quay\.io|registry\.gitlab\.com|[\w.-]*\.(?:amazonaws\.com|pkg\.dev|gcr\.io|azurecr\.io))/.*|gcr\.io/.*"
)
# Where packages usually go, and this machine.
_INDEX = re.compile(r"(?:.*?[=:])?(?:https?|oci|docker)://(?:[^@/]*@)?([\w.-]+).*")
_KNOWN_INDEX = re.compile(
    r"localhost|127\.[\d.]+|[\w-]+|(?:.*\.)?(?:npmjs\.org|npmjs\.com|pypi\.org|crates\.io|rubygems\.org|nuget\.org"
    r"|github\.com|gitlab\.com|maven\.org|sonatype\.org|ghcr\.io|docker\.io|quay\.io|gcr\.io|pkg\.dev|azurecr\.io"
    r"|amazonaws\.com|azure\.com|visualstudio\.com|local|localhost|test)",
    re.IGNORECASE,
)
# What no release is made of.
_DUMP = re.compile(
    r".*\.(?:sql|dump|db|sqlite3?|csv|tsv|xlsx?|parquet|bak|pst|mbox)", re.IGNORECASE
)
_EVERYBODY = re.compile(
    r"allusers|allauthenticatedusers|public-read|publicread|--acl=public", re.IGNORECASE
)


def _goes_to_cloud(found: Invocation) -> bool:
    return "://" in (found.operands[-1] if found.operands else "")


def _is_foreign_registry(found: Invocation) -> bool:
    return any(
        _REGISTRY.fullmatch(word) and not _KNOWN_REGISTRY.fullmatch(word)
        for word in found.operands[1:]
    )


def _is_foreign_target(found: Invocation) -> bool:
    """A package index or registry that the command itself brings along."""
    return any(
        _KNOWN_INDEX.fullmatch(index[1]) is None
        for word in found.argv[1:]
        if (index := _INDEX.fullmatch(word))
    )


def _holds_data(found: Invocation) -> bool:
    return any(map(_DUMP.fullmatch, found.operands[2:]))


def _is_public(found: Invocation) -> bool:
    return any(map(_EVERYBODY.search, found.argv))


def _goes_to_address(found: Invocation) -> bool:
    return any(map(_ADDRESS.fullmatch, found.operands[1:2]))


def _serves_wide(found: Invocation) -> bool:
    """A home or the whole disk, to whoever asks."""
    if (
        found.name == "python"
        and "http.server" not in found.argv
        and "SimpleHTTPServer" not in found.argv
    ):
        return False
    return any(_WIDE.fullmatch(word.rpartition("=")[2]) for word in found.argv[1:])


def _serves_file(found: Invocation) -> bool:
    words = " ".join(found.argv[1:]).lower()
    return bool(re.search(r"(?:file|open|gopen):", words)) and bool(
        re.search(
            r"(?:tcp|udp|openssl|ssl)(?:[46])?(?:-connect)?:(?!localhost|127\.)", words
        )
    )


def _makes_public(found: Invocation) -> bool:
    return "public" in found.argv or "--access=public" in found.argv


def _uploads(found: Invocation) -> bool:
    return any(word.lower().startswith("upload") for word in found.argv[1:])


QUESTIONS: dict[str, Question] = {
    "holds-data": _holds_data,
    "foreign-target": _is_foreign_target,
    "foreign-registry": _is_foreign_registry,
    "made-public": _makes_public,
    "public-acl": _is_public,
    "serves-file": _serves_file,
    "serves-wide": _serves_wide,
    "to-address": _goes_to_address,
    "to-cloud": _goes_to_cloud,
    "uploads": _uploads,
}
