"""The commands of a script before and after one of them, those that do no harm included.

A script is followed without the commands that nothing can be said about. What a deletion
leaves behind they may say all the same, so the text is read once more for it.
"""

from __future__ import annotations

from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.shell.reader import read_shell
from guidance.core.shell_commands.shell.tree import Script, Simple

_LONGEST = 32_768


def list_after(script: Script, simple: Simple, budget: ReadingBudget) -> list[Simple]:
    items = _list_items(script, budget)
    return [item for item in items if item.start > simple.start]


def list_before(script: Script, simple: Simple, budget: ReadingBudget) -> list[Simple]:
    items = _list_items(script, budget)
    return [item for item in items if item.start < simple.start]


def _list_items(script: Script, budget: ReadingBudget) -> list[Simple]:
    if script.whole is None:
        script.whole = script
        if len(script.text) <= _LONGEST:
            budget.read(len(script.text))
            script.whole = read_shell(
                script.text, origin=script.origin, budget=budget, matters=None
            )
    return [item for item in script.whole.items if isinstance(item, Simple)]
