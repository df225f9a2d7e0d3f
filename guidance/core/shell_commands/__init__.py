"""Reading and judging shell commands and SQL: what would be lost, and what is hidden.

`judge_command` reads a text as a shell would and judges every simple command in it,
`judge_sql` every statement, `judge_code` a program; `split_command` shows the parts to a
reviewer, `list_programs` names them.
"""

from __future__ import annotations

from guidance.core.shell_commands.findings import CommandFinding, Part, Token
from guidance.core.shell_commands.judge_command import (
    is_plain,
    judge_code,
    judge_command,
    judge_sql,
    list_programs,
    split_command,
)
from guidance.core.shell_commands.report import Program

__all__ = [
    "CommandFinding",
    "Part",
    "Program",
    "Token",
    "is_plain",
    "judge_code",
    "judge_command",
    "judge_sql",
    "list_programs",
    "split_command",
]
