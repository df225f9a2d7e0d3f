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
)
