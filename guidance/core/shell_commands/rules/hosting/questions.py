"""Conditions of the rules about clouds, platforms and requests."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question

_DELETES_RECORD = re.compile(r"[\"']?action[\"']?\s*[:=]\s*[\"']?delete", re.IGNORECASE)
_EXPIRES = re.compile(r"expiration|file://", re.IGNORECASE)
_DELETES_ITEMS = re.compile(r"\bDelete(?:Request)?\b")
_SUSPENDS = re.compile(r"suspended", re.IGNORECASE)
_TO_NONE = re.compile(r"(?:^|=)0\Z")
_LOCAL = re.compile(
    r"(?:https?://)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(?:[:/]|\Z)"
)
# Paths that delete whatever method asks for them, on any machine.
_DELETING_PATH = re.compile(
    r"/_delete_by_query\b|/delete_series\b|/(?:topic|channel)/(?:delete|empty)\b"
    r"|/api/v2/delete\b|/(?:containers|images|volumes|networks|system|build)/prune\b",
)
# On another machine, a path that ends with the verb.
_VERB_PATH = re.compile(
    r"/(?:delete|destroy|purge|wipe|erase|terminate|truncate|drop|teardown)"
    r"(?:[-_]all)?/?(?:\?|\Z)",
    re.IGNORECASE,
)
_DELETING_BODY = compile_byte_pattern(
    r"<delete>\s*<query>|[\"']drop_all[\"']\s*:\s*true"
)
_MUTATION = re.compile(
    r"\bmutation\b[^{]{0,200}\{\s*\w{0,40}:?\s*(?:delete|destroy|purge|remove)\w"
)
_REMOVES = re.compile(
    r"[\"']op[\"']\s*:\s*[\"']remove|finalizers[\"']\s*:\s*(?:null|\[\s*\])"
)
_ABSENT = re.compile(
    r"\b(?:state|ensure)\s*(?:=>|=|:)\s*[\"']?(?:absent|purged|killed)\b"
)
_TEARDOWN = re.compile(
    r"(?:^|[-_/])(?:teardown|tear-down|destroy|purge|wipe|decommission|nuke|delete)"
    r"(?:[-_][\w-]+)?\.ya?ml\Z|\bstate[=:]\s*absent\b",
    re.IGNORECASE,
)
_TEARDOWN_WORDS = frozenset(("destroy", "teardown", "purge", "wipe", "uninstall"))
_TEARDOWN_RECIPE = re.compile(r"::(?:destroy|teardown|purge|wipe|uninstall|remove)\b")
_REMOVES_STATE = re.compile(
    r"(?:file|user|group|pkg|service|lvm|mysql|postgres|docker|virt|cron|ssh|s3|zfs)\w*"
    r"\.(?:remove|rmdir|delete|purge|purged|absent|rm|destroy|db_remove|db_drop"
    r"|\w*_(?:remove|delete|drop))|system\.(?:reboot|poweroff|shutdown|halt|init)"
)
_PROTECTION = re.compile(
    r"\b(?:visibility|private|archived|allow_force_pushes)=|/protection\b"
)
_TEST_REGISTRY = re.compile(
    r"\btest[-_.]?pypi\b|https?://(?:localhost|127\.|verdaccio|\[::1\])|^test$"
)
_SENDING = ("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json")
_METHODS = ("-X", "--request", "--method", "-method")


def _finds(pattern: re.Pattern[str], found: Invocation) -> bool:
    return any(pattern.search(word) for word in found.argv[1:])


def _deletes_record(found: Invocation) -> bool:
    return _finds(_DELETES_RECORD, found)


def _expires_objects(found: Invocation) -> bool:
    return _finds(_EXPIRES, found)


def _deletes_items(found: Invocation) -> bool:
    return _finds(_DELETES_ITEMS, found)


def _is_production(found: Invocation) -> bool:
    """A namespace that is named so."""
    names = [found.flags.get(flag, "") for flag in ("-n", "--namespace")]
    return any(name.lower().startswith(("prod", "live")) for name in names)


def _suspends(found: Invocation) -> bool:
    return _finds(_SUSPENDS, found)


def _scales_to_none(found: Invocation) -> bool:
    """web=0, or an option whose value is 0."""
    flags = ("--max-size", "--desired-capacity", "--replicas", "--count")
    return any(found.flags.get(flag) == "0" for flag in flags) or any(
        _TO_NONE.search(word) and "=" in word for word in found.operands[1:]
    )


def _removes_by_patch(found: Invocation) -> bool:
    return _finds(_REMOVES, found)


def _evicts(found: Invocation) -> bool:
    """A taint that sends away what runs there."""
    return any(word.endswith(":NoExecute") for word in found.operands)


def _is_absent(found: Invocation) -> bool:
    return _finds(_ABSENT, found)


def _tears_down(found: Invocation) -> bool:
    """A playbook that says so in its name, or a variable that does."""
    return _finds(_TEARDOWN, found)


def _tears_down_by_tags(found: Invocation) -> bool:
    tags = found.flags.get("--tags") or found.flags.get("-t") or ""
    return not _TEARDOWN_WORDS.isdisjoint(tags.lower().split(","))


def _runs_teardown_recipe(found: Invocation) -> bool:
    return _finds(_TEARDOWN_RECIPE, found)


def _removes_state(found: Invocation) -> bool:
    return _finds(_REMOVES_STATE, found)


def _changes_protection(found: Invocation) -> bool:
    return _finds(_PROTECTION, found)


def _is_confirmed(found: Invocation) -> bool:
    """`yes | tool apply`: nobody reads the plan."""
    return found.answered


def _deletes_by_path(found: Invocation) -> bool:
    """No DELETE, but an address or a body that comes to the same."""
    places = [word for word in found.argv[1:] if "/" in word or ":" in word]
    if any(_DELETING_PATH.search(place) for place in places):
        return True
    local = any(_LOCAL.match(place) for place in places)
    if local or not (_sends(found) or found.name == "gh"):
        words = "\0".join(found.argv[1:])
        return _DELETING_BODY.search(encode_one_byte(words)) is not None
    return any(_VERB_PATH.search(place) for place in places) or _finds(_MUTATION, found)


def deletes_by_mutation(query: str) -> bool:
    """GraphQL whose first field deletes."""
    return _MUTATION.search(query) is not None


def _sends(found: Invocation) -> bool:
    """Not a plain GET."""
    if any(flag in found.flags for flag in _SENDING):
        return True
    methods = [found.flags.get(flag, "") for flag in _METHODS]
    return any(method.upper() in ("POST", "PUT", "PATCH") for method in methods) or (
        found.name == "http" and found.operands[:1] == ["POST"]
    )


def _publishes_to_others(found: Invocation) -> bool:
    """Not to a registry for tests, or on this machine."""
    return not _finds(_TEST_REGISTRY, found)


def _prunes_named(found: Invocation) -> bool:
    """More than the layers that no name leads to: those are built again."""
    return found.flags.get("--filter") != "dangling=true" or found.has_any(
        ("-a", "--all")
    )


QUESTIONS: dict[str, Question] = {
    "absent": _is_absent,
    "changes-protection": _changes_protection,
    "confirmed": _is_confirmed,
    "deleting-by-path": _deletes_by_path,
    "deletes-record": _deletes_record,
    "evicts": _evicts,
    "deletes-items": _deletes_items,
    "expires-objects": _expires_objects,
    "in-production": _is_production,
    "not-dangling": _prunes_named,
    "removes-by-patch": _removes_by_patch,
    "removes-state": _removes_state,
    "scales-to-none": _scales_to_none,
    "suspends": _suspends,
    "teardown": _tears_down,
    "to-others": _publishes_to_others,
    "teardown-recipe": _runs_teardown_recipe,
    "teardown-tags": _tears_down_by_tags,
}
