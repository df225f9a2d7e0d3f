"""A draft tried over all that is stored of a project."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from accounts.models import Project
from guidance.core.policy import load_policy
from ledger.backtest.engine import judge_history
from ledger.backtest.judges import BothJudgements, JudgedAgain
from ledger.backtest.tally import Tally
from ledger.models import Run


def judge_again(
    project: Project,
    document: dict[str, Any],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[JudgedAgain]:
    pages = judge_history(
        Run.objects.filter(project=project),
        draft=load_policy(document),
        since=since,
        until=until,
    )
    return [item for page in pages for item in page.judged]


def try_draft(project: Project, **document: Any) -> dict[str, Any]:
    """The counts of a backtest."""
    tally = Tally()
    for item in judge_again(project, document):
        tally.add(item)
    return tally.to_json()


def list_moves(items: list[JudgedAgain]) -> list[tuple[int, str, str]]:
    """Where each decision stands, what it was, and what it would have been."""
    return [
        (item.seq, item.outcome.before["decision"], item.outcome.after["decision"])
        for item in items
        if isinstance(item.outcome, BothJudgements)
    ]
