"""The bodies of tool calls: what an agent wants to do, and what came of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    RootModel,
    StringConstraints,
    model_validator,
)

from guidance.core.arguments import tool_problem
from guidance.core.edits import Edit
from guidance.core.tools.calls import (
    Call,
    CommandCall,
    EditCall,
    MultiEditCall,
    ToolCall,
)
from reviews.schemas import Amount, Body, Money

EDITS_LIMIT = 1_000
LINES_LIMIT = 10_000_000


def _tool_name(name: str) -> str:
    problem = tool_problem(name)
    if problem is not None:
        raise ValueError(problem)
    return name


ToolName = Annotated[str, AfterValidator(_tool_name)]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]
PolicyName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Digest = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class CommandBody(Body):
    tool: ToolName = "Bash"
    command: Annotated[str, StringConstraints(min_length=1)]
    arguments: dict[str, Any] | None = None

    def call(self) -> Call:
        return CommandCall(
            tool=self.tool, command=self.command, arguments=self.arguments
        )


class ToolBody(Body):
    """Arguments decoded, or as the text the model wrote; none is an empty object."""

    tool: ToolName
    arguments: dict[str, Any] | None = None
    arguments_json: str | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.arguments is not None and self.arguments_json is not None:
            raise ValueError("send arguments or arguments_json, not both")
        return self

    def call(self) -> Call:
        return ToolCall(
            tool=self.tool,
            arguments=self.arguments or {},
            arguments_json=self.arguments_json,
        )


class EditBody(Body):
    tool: ToolName = "Edit"
    file_path: FilePath
    content: str
    diff_lines: Annotated[int, Field(ge=0, le=LINES_LIMIT)] | None = None

    def call(self) -> Call:
        return EditCall(
            tool=self.tool,
            file_path=self.file_path,
            content=self.content,
            diff_lines=self.diff_lines,
        )


class EditItem(Body):
    old: str
    new: str
    replace_all: bool = False


class MultiEditBody(Body):
    tool: ToolName = "MultiEdit"
    file_path: FilePath
    original: str
    edits: Annotated[list[EditItem], Field(min_length=1, max_length=EDITS_LIMIT)]

    def call(self) -> Call:
        return MultiEditCall(
            tool=self.tool,
            file_path=self.file_path,
            original=self.original,
            edits=tuple(
                Edit(old=edit.old, new=edit.new, replace_all=edit.replace_all)
                for edit in self.edits
            ),
        )


class CommandCallIn(CommandBody):
    kind: Literal["command"]


class ToolUseIn(ToolBody):
    kind: Literal["tool"]


class EditCallIn(EditBody):
    kind: Literal["edit"]


class MultiEditCallIn(MultiEditBody):
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


class EvaluateCommandIn(CommandBody):
    policy: PolicyName = "default"


class EvaluateToolIn(ToolBody):
    policy: PolicyName = "default"


class EvaluateEditIn(EditBody):
    policy: PolicyName = "default"


class EvaluateMultiEditIn(MultiEditBody):
    policy: PolicyName = "default"


EvaluateIn = EvaluateCommandIn | EvaluateToolIn | EvaluateEditIn | EvaluateMultiEditIn


class ClaimIn(Body):
    digest: Digest


class ResultIn(Body):
    """`output` may be any JSON; secrets in it are not kept."""

    ok: bool
    output: Any = None
    duration_ms: Amount = 0
    tokens: Amount = 0
    cost_usd: Money = "0"
