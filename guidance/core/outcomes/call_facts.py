"""What a judged call tells about its run, should it run: lines, dependencies, tests.

Taken from what is kept of the call, so that nothing of a secret can get into it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from guidance.core.edits import Edit, count_edited_lines
from guidance.core.outcomes.command_list import find_listed_program
from guidance.core.outcomes.dependencies import list_added, list_installed
from guidance.core.outcomes.dependencies.installs import PROGRAMS
from guidance.core.outcomes.facts import TEXT_LIMIT
from guidance.core.outcomes.testing_commands import SIGN, find_test_run
from guidance.core.shell_commands import list_programs

# So many dependencies of one call are kept, and so many files.
_DEPENDENCIES_LIMIT = 500
_FILES_LIMIT = 50
_INSTALLS = re.compile(rf"\b(?:{'|'.join(sorted(PROGRAMS))})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """`tests` are the text of a test run, `tests_tell` whether its result tells how they
    went. `listed` is the entry of the policy's list that the command meets."""

    lines_added: int = 0
    lines_removed: int = 0
    files: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    tests: str = ""
    tests_tell: bool = False
    listed: str = ""
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """What there is to say; empty for most calls."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in zip(_FIELDS, _get_values(self), strict=True)
            if value
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> CallFacts:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in document.items()
        }
        return cls(**values)


_FIELDS = tuple(CallFacts.__dataclass_fields__)
_get_values = attrgetter(*_FIELDS)


def build_call_facts(
    *,
    kind: str,
    shown: Mapping[str, Any],
    preview: Mapping[str, Any] | None,
    listed: Sequence[str],
) -> CallFacts:
    """`shown` and `preview` as the call's verdict has them, `listed` from the policy."""
    match kind:
        case "edit":
            return _read_edit(shown)
        case "multi_edit":
            return _read_diff(shown, preview["diff"]) if preview else _read_edits(shown)
        case "command":
            return _read_command(str(shown.get("command", "")), listed)
        case _:
            return _read_arguments(shown.get("arguments"), listed)


def _read_edit(shown: Mapping[str, Any]) -> CallFacts:
    path, content = str(shown["file_path"]), str(shown["content"])
    lines = content.splitlines()
    if content.startswith("*** Begin Patch"):
        added = sum(line[:1] == "+" for line in lines)
        removed = sum(line[:1] == "-" for line in lines)
    else:
        changed = shown["diff_lines"]
        changed = len(lines) if changed is None else int(changed)
        added = min(changed, len(lines))
        removed = changed - added
    return CallFacts(
        lines_added=added,
        lines_removed=removed,
        files=tuple(path.split(", "))[:_FILES_LIMIT],
        dependencies=tuple(list_added(path, content, is_diff=False))[
            :_DEPENDENCIES_LIMIT
        ],
    )


def _read_diff(shown: Mapping[str, Any], diff: str) -> CallFacts:
    path = str(shown["file_path"])
    # The first two lines name the file.
    lines = diff.splitlines()[2:]
    return CallFacts(
        lines_added=sum(line[:1] == "+" for line in lines),
        lines_removed=sum(line[:1] == "-" for line in lines),
        files=(path,),
        dependencies=tuple(list_added(path, "\n".join(lines), is_diff=True))[
            :_DEPENDENCIES_LIMIT
        ],
    )


def _read_edits(shown: Mapping[str, Any]) -> CallFacts:
    """Edits of a text that is not known."""
    path = str(shown["file_path"])
    edits = [Edit(**edit) for edit in shown["edits"]]
    added, removed = count_edited_lines(edits)
    lines = [
        sign + line
        for edit in edits
        for sign, text in (("-", edit.old), ("+", edit.new))
        for line in text.splitlines()
    ]
    return CallFacts(
        lines_added=added,
        lines_removed=removed,
        files=(path,),
        dependencies=tuple(list_added(path, "\n".join(lines), is_diff=True))[
            :_DEPENDENCIES_LIMIT
        ],
    )


def _read_arguments(arguments: object, listed: Sequence[str]) -> CallFacts:
    """A tool that is given a command, whatever it is called."""
    if isinstance(arguments, Mapping):
        for name in ("command", "cmd", "script"):
            text = arguments.get(name)
            if isinstance(text, str):
                return _read_command(text, listed)
    return CallFacts()


def _read_command(command: str, listed: Sequence[str]) -> CallFacts:
    installs, tests = _INSTALLS.search(command), SIGN.search(command)
    if not (installs or tests or listed):
        return CallFacts()
    parts = list_programs(command)
    names = [name for part in parts for name in list_installed(part)]
    ran = find_test_run(parts) if tests else None
    met = find_listed_program(parts, listed) or ""
    return CallFacts(
        dependencies=tuple(dict.fromkeys(names))[:_DEPENDENCIES_LIMIT],
        tests=ran[0][:TEXT_LIMIT] if ran else "",
        tests_tell=ran[1] if ran else False,
        listed=met,
        text=command[:TEXT_LIMIT] if met or names else "",
    )
