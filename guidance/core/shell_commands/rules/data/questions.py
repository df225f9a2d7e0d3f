"""Conditions of the rules about databases, stores and queues."""

from __future__ import annotations

import re

from guidance.core.shell_commands.disposable.scratch_names import is_scratch_name
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question

_RESTORES = re.compile(r"^\s*\.(?:restore|clone)\b|^\s*\.open\s+--?new\b", re.MULTILINE)
_DETACH_DELETE = re.compile(r"\bdetach\s+delete\b", re.IGNORECASE)
_DROPS_COLUMN = re.compile(r"\bdrop\b", re.IGNORECASE)
_DELETES_PRINCIPAL = re.compile(r"\bdel(?:ete_|_)?princ", re.IGNORECASE)
# Less than an hour, or next to nothing kept.
_EXPIRES = re.compile(r"retention\.(?:ms|bytes)=\d{1,6}\b")
_DROPS_SLOT = re.compile(
    r"\bpg_(?:drop_replication_slot|replication_slot_advance)\s*\("
    r"|\bpg_terminate_backend\s*\(\s*pid\s*\)",
    re.IGNORECASE,
)
_OF_DATABASE = re.compile(r"\bdatname\s*=\s*'([\w-]+)'")
_TRUNCATES = re.compile(r"\btruncate\b", re.IGNORECASE)
_REVOKES = re.compile(
    r"(?:^|/)(?:seal|revoke|revoke-force|revoke-prefix|tidy|destroy)\b"
)
_DELETES_KEYS = re.compile(
    r"(?:p?call)\s*\(\s*[\"'](?:flushall|flushdb|unlink|del)\b", re.IGNORECASE
)


def _drops_slot(found: Invocation) -> bool:
    """Functions of PostgreSQL: a query that drops is no query."""
    return any(
        _DROPS_SLOT.search(word)
        and not ((of := _OF_DATABASE.search(word)) and is_scratch_name(of[1]))
        for word in found.argv[1:]
    )


def _truncates(found: Invocation) -> bool:
    return _finds(_TRUNCATES, found)


def _restores(found: Invocation) -> bool:
    """A line of sqlite3 that replaces the database."""
    return _finds(_RESTORES, found)


def _replicates(found: Invocation) -> bool:
    """Becoming the copy of another server empties this one."""
    words = [word.lower() for word in found.operands[:3]]
    return words[:1] in (["replicaof"], ["slaveof"]) and words[1:] != ["no", "one"]


def _deletes_node(found: Invocation) -> bool:
    return "del-node" in found.argv


def _deletes_keys(found: Invocation) -> bool:
    """A script that runs in the store."""
    return _finds(_DELETES_KEYS, found)


def _detaches(found: Invocation) -> bool:
    return _finds(_DETACH_DELETE, found)


def _drops_column(found: Invocation) -> bool:
    return _finds(_DROPS_COLUMN, found)


def _deletes_principal(found: Invocation) -> bool:
    return _finds(_DELETES_PRINCIPAL, found)


def _expires_records(found: Invocation) -> bool:
    return _finds(_EXPIRES, found)


def _revokes(found: Invocation) -> bool:
    return _finds(_REVOKES, found)


def _finds(pattern: re.Pattern[str], found: Invocation) -> bool:
    return any(pattern.search(word) for word in found.argv[1:])


QUESTIONS: dict[str, Question] = {
    "deletes-keys": _deletes_keys,
    "deletes-node": _deletes_node,
    "deletes-principal": _deletes_principal,
    "detach-delete": _detaches,
    "drops-column": _drops_column,
    "drops-slot": _drops_slot,
    "expires-records": _expires_records,
    "replicates": _replicates,
    "restores": _restores,
    "revokes": _revokes,
    "truncates": _truncates,
}
