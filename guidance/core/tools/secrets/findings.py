"""Secrets in a call as findings: what it would put somewhere, and what it only seeks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from guidance.core.secrets import UNREAD, SecretFinding, get_fingerprint
from guidance.core.tools.calls import Call
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.marked_arguments import normalize_name
from guidance.core.tools.secrets.uses import is_sought

# What an edit looks for; an argument of a tool counts only beside what it puts there.
_OLD = re.compile(r"/shown/edits/[0-9]+/old")
_EDIT_ARGUMENT = re.compile(
    r"(/shown/(?:arguments(?:/edits/[0-9]+)?|edits/[0-9]+)/)(old|new)(_?(?i:string|str|text)|)"
)
_SEARCH_TOOLS = frozenset(
    [
        "grep",
        "ripgrep",
        "grepsearch",
        "searchfiles",
        "filesearch",
        "searchcode",
        "codesearch",
        "findinfiles",
        "searchfilecontent",
    ]
)
_PATTERN = re.compile(r"/shown/arguments/(?:pattern|regex|query|search)")
_REMEDIATION = (
    "Refer to it by an environment variable or a vault instead. "
    "If it was a real one, change it: it has been sent."
)


def make_secret_findings(
    call: Call, found: Sequence[SecretFinding], diff: str, *, commands: frozenset[str]
) -> Iterator[CallFinding]:
    """`commands` are the names of arguments that are read as commands."""
    for secret in _list_added(call, found, diff):
        place = secret.path.removeprefix("/shown")
        sought = secret.kind != UNREAD and _is_sought(call, secret, commands)
        message = f"A secret stands in {place}: {secret.redacted}"
        if secret.kind == UNREAD:
            message = f"More that looks like secrets than is read stands in {place}"
        elif sought:
            message = (
                f"A secret is searched for or removed in {place}: {secret.redacted}"
            )
        yield CallFinding(
            gate="secrets",
            decision="warn" if sought else "block",
            message=message,
            remediation=_REMEDIATION,
            details={
                "kind": secret.kind,
                "argument": place,
                "length": secret.length,
                "redacted": secret.redacted,
                "fingerprint": get_fingerprint(secret.redacted),
                "in_key": secret.in_key,
            },
        )


def _is_sought(call: Call, secret: SecretFinding, commands: frozenset[str]) -> bool:
    if secret.in_key:
        return False
    if _PATTERN.fullmatch(secret.path) and normalize_name(call.tool) in _SEARCH_TOOLS:
        return True
    *_, name = secret.path.rsplit("/", 1)
    if secret.path != "/shown/command" and normalize_name(name) not in commands:
        return False
    text = _get_text(call.to_fields(), secret.path)
    return text is not None and is_sought(text, *secret.span)


def _get_text(shown: Mapping[str, Any], path: str) -> str | None:
    """The text at the path, None where a name in it is hidden."""
    value: Any = shown
    for part in path.removeprefix("/shown/").split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and name.isdigit():
            value = value[int(name)]
        elif isinstance(value, Mapping) and name in value:
            value = value[name]
        else:
            return None
    return value if isinstance(value, str) else None


def _list_added(
    call: Call, found: Sequence[SecretFinding], diff: str
) -> Iterator[SecretFinding]:
    """What the call would put somewhere. What it only takes away is hidden, no more."""
    told, in_diff = set(), []
    replaced = _list_replaced(call, found)
    for secret in found:
        edit = _EDIT_ARGUMENT.fullmatch(secret.path)
        if secret.kind == UNREAD:
            # Wherever it stands, what follows it was not looked at one by one.
            yield secret
        elif secret.path.startswith("/preview"):
            in_diff.append(secret)
        elif edit is None or (edit[1], secret.redacted) not in replaced:
            told.add(secret.redacted)
            yield secret
    added, standing = _split_by_diff_line(in_diff, diff)
    # Put together by the edit: neither in its own texts, nor in the file before.
    for secret in added:
        if secret.redacted not in told | standing:
            told.add(secret.redacted)
            yield secret


def _list_replaced(call: Call, found: Iterable[SecretFinding]) -> set[tuple[str, str]]:
    """The secrets in what each edit looks for: it puts none of them anywhere."""
    replaced = set()
    for secret in found:
        edit = _EDIT_ARGUMENT.fullmatch(secret.path)
        if edit is None or edit[2] != "old":
            continue
        beside = f"{edit[1]}new{edit[3]}"
        if (
            _OLD.fullmatch(secret.path)
            or _get_text(call.to_fields(), beside) is not None
        ):
            replaced.add((edit[1], secret.redacted))
    return replaced


def _split_by_diff_line(
    found: Iterable[SecretFinding], diff: str
) -> tuple[list[SecretFinding], set[str]]:
    """Those in added lines of the diff, and the names of those in others."""
    added, standing = [], set()
    line = position = 0
    for secret in sorted(found, key=lambda secret: secret.span):
        # Onwards from the last one: lines may be very long.
        line = diff.rfind("\n", position, secret.span[0]) + 1 or line
        position = secret.span[0]
        if diff[line] == "+":
            added.append(secret)
        else:
            standing.add(secret.redacted)
    return added, standing
