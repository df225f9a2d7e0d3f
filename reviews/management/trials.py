"""A backtest for somebody at a terminal: judged here and now, and not stored."""

from __future__ import annotations

import json
import sys
from typing import Any

from guidance.core.policy import load_policy
from ledger.backtest.engine import judge_history
from ledger.management.progress import ProgressBar
from reviews.models import Backtest
from reviews.policies.backtest.counts import Counts
from reviews.policies.backtest.selection import (
    count_entries,
    select_history,
    take_pages,
)


def judge_at_terminal(backtest: Backtest) -> dict[str, Any]:
    """All that it counts, with a bar that shows how far it came."""
    counts, runs = Counts(), select_history(backtest)
    bar = ProgressBar(sys.stderr, total=count_entries(runs), what="entries")
    pages = judge_history(
        runs,
        draft=load_policy(json.loads(backtest.document)),
        since=backtest.since,
        until=backtest.until,
    )
    done = 0
    try:
        for page in take_pages(pages, backtest.limit):
            counts.add(page.judged)
            done += page.entries
            bar.show(done)
    finally:
        bar.clear()
    return counts.to_json()
