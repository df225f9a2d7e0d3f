"""Calls and rules for the tests of the gateway's core."""

from __future__ import annotations

from typing import Any

from guidance.core.edits import Edit
from guidance.core.policy import PolicyError, load_policy
from guidance.core.tools.calls import (
    Call,
    CommandCall,
    EditCall,
    MultiEditCall,
    ToolCall,
)
from guidance.core.tools.judge_call import CallVerdict, judge_call
from guidance.core.tools.section import ToolRules

KEY = b"a key for tests"


def rules(**section: Any) -> ToolRules:
    return load_policy({"tools": section}).tools


def problems(**section: Any) -> dict[str, str]:
    """What is wrong with a tools section, by path."""
    try:
        load_policy({"tools": section})
    except PolicyError as error:
        return dict(error.errors)
    return {}


def command(text: str, tool: str = "Bash", **more: Any) -> CommandCall:
    return CommandCall(tool=tool, command=text, **more)


def use(tool: str = "Tool", **arguments: Any) -> ToolCall:
    return ToolCall(tool=tool, arguments=arguments)


def edit(content: str = "x\n", **more: Any) -> EditCall:
    return EditCall(tool="Edit", file_path="a.py", content=content, **more)


def several(original: str, *edits: tuple[str, str]) -> MultiEditCall:
    return MultiEditCall(
        tool="MultiEdit",
        file_path="a.py",
        original=original,
        edits=tuple(Edit(old=old, new=new) for old, new in edits),
    )


def judged(call: Call, **section: Any) -> CallVerdict:
    return judge_call(rules=rules(**section), call=call, fingerprint_key=KEY)


def spoken(verdict: CallVerdict) -> list[str]:
    return [finding.gate for finding in verdict.findings]
