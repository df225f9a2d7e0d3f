"""A tool use of a coding agent as one of our calls, and back again."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from common.errors import Invalid
from guidance.core.canonical import to_canonical_json
from guidance.core.edits import count_diff_lines
from guidance.core.tools.calls import Call
from guidance.redactor import get_fingerprint_key
from reviews.schemas.calls import (
    CommandBody,
    EditBody,
    ToolBody,
    UnplannedEditsBody,
    build_patch_fields,
)

Input = Mapping[str, Any]

_ONE_COMMAND = re.compile(r"[^|;&\n]+")
_GIT = re.compile(r"\bgit\b")
_COMMIT = re.compile(r"\scommit\b")
# The words that tell people what a tool is used on, where it has such an argument.
_TELLING = ("command", "file_path", "path", "pattern", "query", "url", "description")
_SUMMARY_WORDS = 120
# Told to people beside a command, and not part of what runs; other tools use it.
_LABELS = {"Bash": "description"}


def build_call(tool: str, given: Input) -> Call:
    """The call that our gates judge; what we know no better way for is a tool."""
    try:
        return _build_body(tool, given).build_call()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise Invalid(f"The tool use cannot be read: {place}: {first['msg']}") from None


def build_input(
    given: Input, tool: str, kind: str, granted: Input
) -> dict[str, Any] | None:
    """The whole input as it was granted; None where it cannot be put into the tool's
    own form, because several texts were judged as one."""
    match kind:
        case "command":
            changed = granted.get("arguments") or given
            return {**changed, "command": granted["command"]}
        case "tool":
            return dict(granted["arguments"])
        case "edit" if tool in _CONTENT:
            return {**given, _CONTENT[tool]: granted["content"]}
        case "multi_edit" if tool == "MultiEdit":
            return {**given, "edits": _write_edits(given, granted)}
        case _:
            return None


def build_fingerprint(tool: str, given: Input) -> str:
    """Tells tool uses apart; keyed, because an input may hold a secret."""
    label = _LABELS.get(tool)
    what = {name: value for name, value in given.items() if name != label}
    data = to_canonical_json({"tool": tool, "input": what}).encode(
        "utf-8", "surrogatepass"
    )
    return hmac.new(get_fingerprint_key(), data, hashlib.sha256).hexdigest()


def build_summary(tool: str, given: Input) -> str:
    """Such as "Bash: pytest -k login"."""
    told = next((given[name] for name in _TELLING if given.get(name)), "")
    return shorten(f"{tool}: {told}" if isinstance(told, str) and told else tool)


def is_commit(given: Input) -> bool:
    """A commit is a checkpoint: whatever comes after it can be undone."""
    command = given.get("command")
    return isinstance(command, str) and any(
        _has_commit(part.group()) for part in _ONE_COMMAND.finditer(command)
    )


def _has_commit(command: str) -> bool:
    """In two searches: one pattern would begin anew at every `git` of a long text."""
    git = _GIT.search(command)
    return git is not None and _COMMIT.search(command, git.end()) is not None


def shorten(text: str, limit: int = _SUMMARY_WORDS) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


# Which argument of an editing tool holds the new text.
_CONTENT = {"Write": "content", "Edit": "new_string", "apply_patch": "command"}


def _build_body(
    tool: str, given: Input
) -> CommandBody | EditBody | ToolBody | UnplannedEditsBody:
    match tool:
        case "Bash":
            return CommandBody.model_validate(
                {
                    "tool": tool,
                    "command": given.get("command"),
                    "arguments": dict(given),
                }
            )
        case "Write":
            return _build_edit(tool, given, old="", new=given.get("content"))
        case "Edit":
            old, new = given.get("old_string"), given.get("new_string")
            return _build_edit(tool, given, old=old, new=new)
        case "MultiEdit":
            # The file itself is not sent: what is put into it is judged.
            return UnplannedEditsBody.model_validate(
                {
                    "tool": tool,
                    "file_path": given.get("file_path"),
                    "edits": _read_edits(given.get("edits")),
                }
            )
        case "apply_patch":
            return _build_patch(given)
        case _:
            return ToolBody.model_validate({"tool": tool, "arguments": dict(given)})


def _build_edit(tool: str, given: Input, *, old: Any, new: Any) -> EditBody:
    both = isinstance(old, str) and isinstance(new, str)
    return EditBody.model_validate(
        {
            "tool": tool,
            "file_path": given.get("file_path"),
            "content": new,
            "diff_lines": count_diff_lines(new, original=old) if both else None,
        }
    )


def _build_patch(given: Input) -> EditBody:
    """Codex sends its patches as the argument `command`; they are no command."""
    patch = given.get("command")
    return EditBody.model_validate(
        {"tool": "apply_patch", "content": patch, **build_patch_fields(patch)}
    )


_EDIT = {"old_string": "old", "new_string": "new", "replace_all": "replace_all"}


def _read_edits(edits: Any) -> Any:
    """In our words; what is no list of edits is refused as it stands."""
    if not isinstance(edits, list):
        return edits
    return [
        {name: edit[key] for key, name in _EDIT.items() if key in edit}
        if isinstance(edit, dict)
        else edit
        for edit in edits
    ]


def _write_edits(given: Input, granted: Input) -> list[dict[str, Any]]:
    """In the host's words, with whatever else it said of each edit that is left."""
    asked = iter(given["edits"])
    written: list[dict[str, Any]] = []
    for edit in granted["edits"]:
        before = next(
            each
            for each in asked
            if each["old_string"] == edit["old"]
            if each.get("replace_all", False) == edit["replace_all"]
        )
        written.append({**before, "new_string": edit["new"]})
    return written
