"""Tools other than a shell: what their names and their actions say that they do."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="tool-delete",
        message="Calls a tool that deletes, by its own name or by the action it is given",
        why="Behind most such tools there is no trash can and no second question.",
        safer="Look at what it names first (list, get); archive or rename it.",
        rollback="an export or copy of what it names.",
        passes=("ls",),
    ),
    Rule(
        name="tool-payment",
        message="Calls a tool that pays money out, or ends what somebody pays for",
        why="Money that has left comes back only if the other side agrees.",
        safer="Prepare it as a draft, and let a person send it.",
        rollback="none but asking for the money.",
        passes=("ls",),
    ),
    Rule(
        name="tool-bypass",
        message="Calls a tool past the checks that were made for it",
        why="Reviews and required checks are there for the one time that they say no.",
        safer="Wait for the checks, or ask somebody who may approve.",
        rollback="a revert of what was let through.",
        passes=("ls",),
    ),
)
