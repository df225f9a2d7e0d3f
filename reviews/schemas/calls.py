"""The bodies of tool calls, as an agent sends them and as a person amends them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    RootModel,
    StringConstraints,
    model_validator,
)

from guidance.core.arguments import find_tool_problem
from guidance.core.arguments.tool_names import TOOL_NAME_LIMIT
from guidance.core.edits import Edit
from guidance.core.edits.patches import count_patched_lines, list_patched_files
from guidance.core.jcs import read_as_stored
from guidance.core.tools.calls import (
    Call,
    CommandCall,
    EditCall,
    MultiEditCall,
    ToolCall,
)
from reviews.schemas.fields import Body

EDITS_LIMIT = 1_000
LINES_LIMIT = 10_000_000
PATH_LIMIT = 4_096


def _check_tool_name(name: str) -> str:
    problem = find_tool_problem(name)
    if problem is not None:
        raise ValueError(problem)
    return name


# The pattern says nearly the same as the validator does.
ToolName = Annotated[
    str,
    AfterValidator(_check_tool_name),
    Field(
        description="letters and digits of any script, printable ASCII signs, single "
        "blanks within",
        json_schema_extra={
            "minLength": 1,
            "maxLength": TOOL_NAME_LIMIT,
            "pattern": r"^[!-~\p{L}\p{N}]+( [!-~\p{L}\p{N}]+)*$",
        },
    ),
]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=PATH_LIMIT)]
PolicyName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Digest = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class CommandBody(Body):
    """A shell command."""

    tool: ToolName = "Bash"
    command: Annotated[str, StringConstraints(min_length=1)]
    arguments: dict[str, Any] | None = None

    def build_call(self) -> Call:
        return CommandCall(
            tool=self.tool,
            command=self.command,
            arguments=read_as_stored(self.arguments),
        )


class ToolBody(Body):
    """Arguments decoded, or as the text the model wrote; none is an empty object."""

    tool: ToolName
    arguments: dict[str, Any] | None = None
    arguments_json: str | None = None

    @model_validator(mode="after")
    def _require_one_form(self) -> Self:
        if self.arguments is not None and self.arguments_json is not None:
            raise ValueError("send arguments or arguments_json, not both")
        return self

    def build_call(self) -> Call:
        return ToolCall(
            tool=self.tool,
            arguments=read_as_stored(self.arguments or {}),
            arguments_json=self.arguments_json,
        )


class EditBody(Body):
    """New content for a file."""

    tool: ToolName = "Edit"
    file_path: FilePath
    content: str
    diff_lines: Annotated[int, Field(ge=0, le=LINES_LIMIT)] | None = None

    def build_call(self) -> Call:
        return EditCall(
            tool=self.tool,
            file_path=self.file_path,
            content=self.content,
            diff_lines=self.diff_lines,
        )


def build_patch_fields(patch: object) -> dict[str, Any]:
    """Which files a patch changes, and how much: it says so itself."""
    if not isinstance(patch, str):
        return {}
    return {
        "file_path": ", ".join(list_patched_files(patch))[:PATH_LIMIT] or "unknown",
        "diff_lines": count_patched_lines(patch),
    }


class EditItem(Body):
    """A text to find, and what to put in its place."""

    old: str
    new: str
    replace_all: bool = False


EditList = Annotated[list[EditItem], Field(min_length=1, max_length=EDITS_LIMIT)]


class MultiEditBody(Body):
    """Several edits of one text, all or none."""

    tool: ToolName = "MultiEdit"
    file_path: FilePath
    original: str
    edits: EditList

    def build_call(self) -> Call:
        return _build_multi_edit(self, original=self.original)


class UnplannedEditsBody(Body):
    """Several edits of a text that is not known here."""

    tool: ToolName = "MultiEdit"
    file_path: FilePath
    edits: EditList

    def build_call(self) -> Call:
        return _build_multi_edit(self, original=None)


def _build_multi_edit(
    body: MultiEditBody | UnplannedEditsBody, *, original: str | None
) -> Call:
    return MultiEditCall(
        tool=body.tool,
        file_path=body.file_path,
        original=original,
        edits=tuple(
            Edit(old=edit.old, new=edit.new, replace_all=edit.replace_all)
            for edit in body.edits
        ),
    )


class _SentCall(Body):
    confirm: Annotated[
        bool, Field(description="the agent's own wish that a person looks at it first")
    ] = False


class CommandCallIn(CommandBody, _SentCall):
    """A shell command that the agent wants to run."""

    kind: Literal["command"]


class ToolUseIn(ToolBody, _SentCall):
    """A tool that the agent wants to call."""

    kind: Literal["tool"]


class EditCallIn(EditBody, _SentCall):
    """A file that the agent wants to write."""

    kind: Literal["edit"]


class MultiEditCallIn(MultiEditBody, _SentCall):
    """Several edits of one file that the agent wants to make."""

    kind: Literal["multi_edit"]


class ToolCallIn(
    RootModel[
        Annotated[
            CommandCallIn | ToolUseIn | EditCallIn | MultiEditCallIn,
            Field(discriminator="kind"),
        ]
    ]
):
    """One of four kinds; each has its own fields."""

    def build_call(self) -> Call:
        return replace(self.root.build_call(), confirm=self.root.confirm)
