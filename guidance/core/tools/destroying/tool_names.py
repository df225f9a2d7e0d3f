"""Tools that destroy by their name, by the action they are given, or by what they write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from guidance.core.shell_commands.paths import (
    is_disposable,
    is_plain_name,
    is_temporary,
)
from guidance.core.tools.calls import Call, CommandCall, ToolCall
from guidance.core.tools.destroying.file_writes import find_write_rule
from guidance.core.tools.destroying.requests import find_request_rule
from guidance.core.tools.destroying.tool_verbs import (
    PRODUCTION,
    ToolVerb,
    find_destroying_verb,
    find_verb,
    pays,
    read_tool_name,
    split_words,
)
from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.rule_findings import make_rule_finding
from guidance.core.tools.section import ToolRules
from guidance.core.tools.texts import Text

# Names of arguments as `normalize_name` gives them.
_ACTIONS = ("action", "operation", "operationname", "op", "verb")
_PATHS = ("path", "paths", "filepath", "file", "files", "targetfile", "filename")
_TRYING = ("dryrun", "preview", "validateonly", "whatif", "simulate", "planonly")
_PICKING = ("filter", "where", "query", "condition", "selector")
_ROWS = frozenset(("many", "one", "row", "rows", "record", "records", "documents"))
_KEYED = frozenset(("key", "item"))
_REMOTE = ("owner", "repo", "repository", "branch", "projectid")
_MOVING = frozenset(("move", "rename", "copy", "mv", "cp"))
_SOURCES = ("source", "from", "src", "sourcepath", "oldpath", "path")
_TARGETS = ("destination", "dest", "to", "target", "destinationpath", "newpath")
_NOTHING = ("/dev/null", "nul")
_BYPASSING = (
    *("bypassrules", "bypass", "bypasschecks", "bypassprotection", "adminoverride"),
    *("skipapproval", "skipchecks", "skipreview", "ignorechecks", "forcemerge"),
)
# Servers whose paths are no files.
_KEEPERS = frozenset(
    (
        "vault",
        "consul",
        "etcd",
        "redis",
        "secrets",
        "secret",
        "kv",
        "bucket",
        "registry",
    )
)
# Of others an operation may delete a line, or a field.
_FILING = frozenset(
    ("fs", "file", "files", "filesystem", "storage", "disk", "bucket", "drive")
)
_LONGEST = 64


def check_tool(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    given: dict[str, Any] = {}
    if not evidence.is_bare_command:
        given = {name: part for name, _, part in evidence.held[0].parts}
    elif not _may_destroy(evidence.call.tool):
        return
    name = _find_rule(rules, evidence.call, given)
    if not name and given:
        name = find_request_rule(evidence) or _find_in_parts(evidence)
    found = (name, Text("", evidence.call.tool)) if name else None
    found = found or find_write_rule(evidence.call, given)
    finding = make_rule_finding(rules, *found) if found else None
    if finding is not None:
        yield finding


@lru_cache(maxsize=1_000)
def _may_destroy(tool: str) -> bool:
    """Whether a name alone says so, which only depends on the name: it has at most some
    hundred letters, and agents have few tools (bench: tool calls)."""
    name = read_tool_name(tool)
    return pays(name) or find_destroying_verb(name) is not None


def _find_rule(rules: ToolRules, call: Call, given: Mapping[str, Any]) -> str | None:
    if not isinstance(call, ToolCall | CommandCall):
        return None
    tool = read_tool_name(call.tool)
    if pays(tool):
        return None if _is_tried(given) else "tool-payment"
    found = find_destroying_verb(tool)
    if found is None:
        if not given:
            return None
        return (
            _find_forced(split_words(call.tool), given)
            or _find_into_nothing(tool.words, given)
            or _find_by_action(tool.words, given)
        )
    if _is_tried(given) or _picks_rows(found, given) or "pid" in given:
        return None
    return _find_by_paths(rules, found, given, call.tool)


def _find_in_parts(evidence: CallEvidence) -> str | None:
    """One call for many actions: `operations: [{"op": "delete", "path": …}]`."""
    call = evidence.call
    if not isinstance(call, ToolCall) or _FILING.isdisjoint(split_words(call.tool)):
        return None
    for holder in evidence.held[1:]:
        given = {name: part for name, _, part in holder.parts}
        paths = [path for name in _PATHS for path in _list_texts(given.get(name))]
        if all(map(is_temporary, paths)) and paths:
            continue
        if rule := _find_by_action([], given):
            return rule
    return None


def _find_by_paths(
    rules: ToolRules, found: ToolVerb, given: Mapping[str, Any], tool: str
) -> str | None:
    """Files are judged as a command that deletes them would be."""
    paths = [path for name in _PATHS for path in _list_texts(given.get(name))]
    if not paths:
        return "tool-delete"
    if all(
        is_temporary(path) or is_disposable(path, rules.disposable_names)
        for path in paths
    ):
        return None
    files = {"file", "files"} & {*found.objects} or (
        found.objects == () and _KEEPERS.isdisjoint(split_words(tool))
    )
    elsewhere = any(name in given for name in _REMOTE) or given.get("recursive")
    if files and all(map(is_plain_name, paths)) and not elsewhere:
        return "delete-named-file"
    return "tool-delete"


def _find_by_action(words: list[str], given: Mapping[str, Any]) -> str | None:
    """One tool for many actions: manage_instance with the action terminate."""
    for name in _ACTIONS:
        action = given.get(name)
        if not isinstance(action, str) or len(action := action.strip()) > _LONGEST:
            continue
        found = find_verb([*split_words(action), *words])
        if found is None or found.verb not in split_words(action):
            continue
        if _is_tried(given) or _picks_rows(found, given):
            return None
        return "tool-delete"
    return None


def _find_into_nothing(words: list[str], given: Mapping[str, Any]) -> str | None:
    """Moved to where nothing stays, or nothing copied over something."""
    if _MOVING.isdisjoint(words):
        return None
    sources = [given[name] for name in _SOURCES if isinstance(given.get(name), str)]
    targets = [given[name] for name in _TARGETS if isinstance(given.get(name), str)]
    nothing = any(path.lower() in _NOTHING for path in (*sources, *targets))
    return "tool-delete" if nothing else None


def _find_forced(words: list[str], given: Mapping[str, Any]) -> str | None:
    """git as a tool, with the same arguments that make the command lose work."""
    if any(given.get(name) is True for name in _BYPASSING):
        return "tool-bypass"
    if "push" in words and (
        given.get("force") is True or given.get("forcepush") or "force" in words
    ):
        return "git-push-force"
    if "git" in words and "checkout" in words and given.get("force") is True:
        return "git-discard"
    if "scale" in words and given.get("replicas") == 0 and _is_production(given):
        return "kubernetes-delete"
    if "clean" in words and "git" in words and given.get("force") is True:
        return "git-clean"
    if "apply" in words and given.get("autoapprove") is True:
        return "infrastructure-apply"
    if "reset" in words and (given.get("hard") is True or given.get("mode") == "hard"):
        return "git-reset-hard"
    return None


def _is_production(given: Mapping[str, Any]) -> bool:
    return any(
        isinstance(part, str) and PRODUCTION.fullmatch(part) for part in given.values()
    )


def _is_tried(given: Mapping[str, Any]) -> bool:
    return any(given.get(name) is True for name in _TRYING)


def _picks_rows(found: ToolVerb, given: Mapping[str, Any]) -> bool:
    """Rows by a condition, or one by its key, as DELETE with a WHERE takes them."""
    if not _ROWS.isdisjoint(found.objects):
        return any(bool(given.get(name)) for name in _PICKING)
    key = given.get("key")
    return _KEYED.issuperset(found.objects) and (
        isinstance(key, dict)
        or (isinstance(key, str) and key.strip("*? ") == key != "")
    )


def _list_texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [part for part in value if isinstance(part, str)]
    return []
