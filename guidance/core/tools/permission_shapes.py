"""What a standing permission covers: one exact call, or all calls of its shape.

Two calls have the same shape when they differ only in numbers, hashes and ids that are
part of a name: `rm -rf build-123` and `rm -rf build-124`. Everything else counts as it
stands, or a permission for one folder would be one for all: options, addresses, settings
and bare numbers, because `chmod 755` is not `chmod 777`. A text in which letters can be
written as numbers has no shape at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from guidance.core.arguments import is_allowlisted
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.shell_commands.limits import MAX_FINDINGS
from guidance.core.shell_commands.rules.rule import GUARD
from guidance.core.tools.calls import Call, CommandCall, ToolCall
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.texts import list_texts

# Stands for every part of a shape that may change. A call that has this very letter in
# it has no shape: nobody could tell the two apart.
MAY_CHANGE = "\ue000"
# What a shell or an interpreter would turn into other letters: escapes, variables,
# substitutions, character codes, ranges in braces.
_WRITTEN_OTHERWISE = re.compile(
    r"[\\$`]|chr\s*\(|%[0-9a-f]|\{[^{}]*\.\.", re.IGNORECASE
)
_WORD = re.compile(r"[^ \t\n]+")
# A name or a path, in quotes or not. Options, settings, addresses and every sign that
# means something to a shell are left out.
_NAME = re.compile(r"['\"]?(?!-)[0-9A-Za-z._/~+-]+['\"]?")
_IPV4 = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
# With a digit in it: a word of seven letters may be a name.
_HASH = r"(?=[a-fA-F]*[0-9])[0-9a-fA-F]{7,}"
# After a letter and a sign (build-123), or between slashes and long (/srv/20240131).
_RUN = re.compile(
    rf"(?<=[A-Za-z][-_.])(?:{_UUID}|{_HASH}|[0-9]+)(?![0-9A-Za-z])"
    rf"|(?<![^/'\"])(?:{_UUID}|{_HASH})(?![^/'\"])"
)


def build_exact_text(call: Call) -> str:
    """The call without its run: equal for equal calls of the whole project."""
    return to_canonical_json({"kind": call.kind, "tool": call.tool, **call.to_fields()})


def build_shape_text(call: Call) -> str | None:
    """The same with a sign for every changing part; None where only the exact will do."""
    if not isinstance(call, CommandCall | ToolCall) or MAY_CHANGE in build_exact_text(
        call
    ):
        return None
    if any(
        _WRITTEN_OTHERWISE.search(part.text) for part in list_texts(call.to_fields())
    ):
        return None
    return to_canonical_json(
        {"kind": call.kind, "tool": call.tool, **_replace_changing_in(call.to_fields())}
    )


def build_permission_key(text: str) -> str:
    return hash_text(text)


def is_permittable(
    findings: Iterable[CallFinding], *, always_ask: Iterable[str]
) -> bool:
    """Whether all that was found may be permitted in advance.

    Never what touches the guard itself or what the policy always asks about, never what nobody could read, never what a
    gate could not judge or does not leave to a person; and not where there may be more
    than was told.
    """
    always = tuple(always_ask)
    asked = [f for f in findings if f.decision in {"block", "require-confirmation"}]
    return 0 < len(asked) < MAX_FINDINGS and all(
        finding.decision == "require-confirmation"
        and finding.gate != GUARD
        and "rule" in finding.details
        and not finding.details.get("uninspectable")
        and not is_allowlisted(str(finding.details["rule"]), always)
        for finding in asked
    )


def _replace_changing_in(value: Any) -> Any:
    """Texts as they are decoded: in JSON a tab would be a letter after a backslash."""
    if isinstance(value, str):
        return _WORD.sub(_replace_changing, value)
    if isinstance(value, Mapping):
        return {key: _replace_changing_in(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_changing_in(part) for part in value]
    return value


def _replace_changing(word: re.Match[str]) -> str:
    text = word[0]
    bare = text.strip("'\"").isdigit()
    if bare or not _NAME.fullmatch(text) or _IPV4.search(text):
        return text
    return _RUN.sub(MAY_CHANGE, text)
