"""Tell the workers at once that stored history waits to be looked through."""

from __future__ import annotations

from ledger.waiting.task_hints import TaskHints

_hints = TaskHints("reviews.tasks.run_backtests")


def send_hint(project_id: int) -> None:
    _hints.send(project_id)
