"""Hints to the workers, as Celery tasks, that a project's loop has something to do.

Only hints: many become one, they are sent from a thread of their own so that a slow broker
delays nobody, and the next tick finds what was lost.
"""

from __future__ import annotations

from ledger.waiting.coalescing import CoalescingSender
from ledger.waiting.task_hints import send_task
from ledger.writer import Committed, listen_always

DECIDE = "loop.decide"
# Soon enough for the loop, and a burst of rulings becomes one hint.
PAUSE_S = 0.5


def _send_tasks(projects: list[int]) -> None:
    for project_id in projects:
        send_task(DECIDE, project_id)


# Gathered first: agents that wait for the same commit come before the loop.
_hints = CoalescingSender("loop-hints", _send_tasks, before_s=PAUSE_S)


def send_hint(project_id: int) -> None:
    """Call it after the commit."""
    _hints.add((project_id,))


def send_hints_on_commits() -> None:
    """Hint at every commit that wakes an agent: a run ended, a review was ruled on."""

    def on_commit(commit: Committed) -> None:
        if commit.waited_run_ids:
            _hints.add(commit.projects)

    listen_always(on_commit)
