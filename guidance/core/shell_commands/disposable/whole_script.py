"""The commands of a script before and after one of them, those that do no harm included.

A script is followed without the commands that nothing can be said about. What a deletion
leaves behind they may say all the same, so the text is read once more for it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from guidance.core.shell_commands.limits import ReadingBudget, TooMuchError
from guidance.core.shell_commands.shell.reader import read_shell
from guidance.core.shell_commands.shell.tree import Script, Simple

_LONGEST = 32_768
# Commands that are looked at on either side.
_MOST = 24
_PASSED_AT_ONCE = 16


def list_after(script: Script, simple: Simple, budget: ReadingBudget) -> list[Simple]:
    """The next ones."""
    items = _list_items(script, budget)
    place = bisect_right(items, simple.start, key=_get_start)
    return items[place : place + _MOST]


def list_all_after(
    script: Script, simple: Simple, budget: ReadingBudget
) -> list[Simple]:
    """All that follow; to go through them for one command after another costs."""
    items = _list_items(script, budget)
    if script.whole_cut:
        raise TooMuchError(script.whole_cut)
    rest = items[bisect_right(items, simple.start, key=_get_start) :]
    budget.count_step(len(rest) // _PASSED_AT_ONCE)
    return rest


def list_before(script: Script, simple: Simple, budget: ReadingBudget) -> list[Simple]:
    """The first ones of the script."""
    items = _list_items(script, budget)
    return items[: min(_MOST, bisect_left(items, simple.start, key=_get_start))]


def _get_start(item: Simple) -> int:
    return item.start


def _list_items(script: Script, budget: ReadingBudget) -> list[Simple]:
    """All of them in their order, listed once for all deletions of a script."""
    if script.whole is None:
        whole = script
        if len(script.text) <= _LONGEST:
            budget.read(len(script.text))
            whole = read_shell(
                script.text, origin=script.origin, budget=budget, matters=None
            )
        script.whole_cut = whole.too_much
        script.whole = [item for item in whole.items if isinstance(item, Simple)]
    return script.whole
