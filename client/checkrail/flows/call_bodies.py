"""The bodies of the four kinds of call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def build_command_fields(
    command: str, *, tool: str = "Bash", arguments: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    more = {} if arguments is None else {"arguments": dict(arguments)}
    return {"kind": "command", "tool": tool, "command": command, **more}


def build_tool_fields(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    arguments_json: str | None = None,
) -> dict[str, Any]:
    if arguments_json is None:
        return {"kind": "tool", "tool": tool, "arguments": dict(arguments or {})}
    if arguments is not None:
        raise ValueError("Pass arguments or arguments_json, not both.")
    return {"kind": "tool", "tool": tool, "arguments_json": arguments_json}


def build_edit_fields(
    file_path: str, content: str, *, tool: str = "Edit", diff_lines: int | None = None
) -> dict[str, Any]:
    more = {} if diff_lines is None else {"diff_lines": diff_lines}
    named = {"kind": "edit", "tool": tool, "file_path": file_path}
    return {**named, "content": content, **more}


def build_multi_edit_fields(
    file_path: str,
    original: str,
    edits: Sequence[Mapping[str, Any]],
    *,
    tool: str = "MultiEdit",
) -> dict[str, Any]:
    named = {"kind": "multi_edit", "tool": tool, "file_path": file_path}
    return {**named, "original": original, "edits": [dict(edit) for edit in edits]}
