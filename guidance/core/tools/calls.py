"""What an agent wants to do: one dataclass for each kind of call.

`confirm` is the agent's wish that a person looks at the call first. It is no part of what
would run: neither a digest nor a permission knows it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from guidance.core.edits import Edit
from guidance.core.jcs import to_jcs

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command line. `arguments`, where given, are what the tool itself receives."""

    kind: ClassVar[str] = "command"
    tool: str
    command: str
    arguments: Mapping[str, Any] | None = None
    confirm: bool = False

    def to_fields(self) -> Document:
        if self.arguments is None:
            return {"command": self.command}
        return {"command": self.command, "arguments": dict(self.arguments)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool, its arguments decoded, or as the text the model wrote."""

    kind: ClassVar[str] = "tool"
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    arguments_json: str | None = None
    confirm: bool = False

    def to_fields(self) -> Document:
        if self.arguments_json is not None:
            return {"arguments_json": self.arguments_json}
        return {"arguments": dict(self.arguments)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EditCall:
    """New content of a file; lines that are not counted yet are counted by us."""

    kind: ClassVar[str] = "edit"
    tool: str
    file_path: str
    content: str
    diff_lines: int | None = None
    confirm: bool = False

    def to_fields(self) -> Document:
        return {
            "file_path": self.file_path,
            "content": self.content,
            "diff_lines": self.diff_lines,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiEditCall:
    """Several edits of one text. The original is judged on, and not kept: None where it
    is not known, as of a call that was stored or that a person has changed."""

    kind: ClassVar[str] = "multi_edit"
    tool: str
    file_path: str
    original: str | None
    edits: tuple[Edit, ...]
    confirm: bool = False

    def to_fields(self) -> Document:
        return {
            "file_path": self.file_path,
            "edits": [
                {"old": edit.old, "new": edit.new, "replace_all": edit.replace_all}
                for edit in self.edits
            ],
        }


Call = CommandCall | ToolCall | EditCall | MultiEditCall


def build_call(
    *, kind: str, tool: str, shown: Mapping[str, Any], confirm: bool = False
) -> Call:
    """The call that is shown so."""
    match kind:
        case "command":
            return CommandCall(tool=tool, confirm=confirm, **shown)
        case "tool":
            return ToolCall(tool=tool, confirm=confirm, **shown)
        case "edit":
            return EditCall(tool=tool, confirm=confirm, **shown)
        case _:
            return MultiEditCall(
                tool=tool,
                file_path=shown["file_path"],
                original=None,
                edits=tuple(Edit(**edit) for edit in shown["edits"]),
                confirm=confirm,
            )


def compute_call_digest(call: Call, *, run: str, key: bytes | None) -> str:
    """What a grant is bound to: every byte of the call, and its run.

    A caller can compute it: the SHA-256 of the call by RFC 8785. Where the call carries a
    secret, `key` makes it an HMAC instead, so that nobody can guess the secret by trying.
    """
    document = {"run": run, "kind": call.kind, "tool": call.tool, **call.to_fields()}
    if isinstance(call, MultiEditCall) and call.original is not None:
        document["original"] = call.original
    data = to_jcs(document).encode()
    if key is None:
        return "sha256:" + hashlib.sha256(data).hexdigest()
    return "hmac-sha256:" + hmac.new(key, data, hashlib.sha256).hexdigest()
