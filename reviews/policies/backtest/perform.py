"""Run a backtest: judge, count, and store what changes, telling how far it came."""

from __future__ import annotations

import json

from guidance.core.policy import load_policy
from ledger.backtest.engine import judge_history
from ledger.jobs.perform import Signs, give_way, perform_next_job
from reviews.models import Backtest, BacktestItem, BacktestUnchanged
from reviews.policies.backtest.counts import Counts
from reviews.policies.backtest.selection import (
    count_entries,
    select_history,
    take_pages,
)
from reviews.policies.backtest.unchanged import build_unchanged


def perform_next() -> bool:
    """Run the next backtest that waits, or whose worker is gone; False if there is none."""
    return perform_next_job(Backtest.objects.all(), _judge)


def _judge(backtest: Backtest, signs: Signs) -> None:
    backtest.items.all().delete()
    backtest.unchanged.all().delete()
    counts, runs = Counts(), select_history(backtest)
    done = 0
    signs.set_total(count_entries(runs))
    draft = load_policy(json.loads(backtest.document))
    pages = judge_history(runs, draft=draft, since=backtest.since, until=backtest.until)
    for page in give_way(take_pages(pages, backtest.limit)):
        rows = counts.add(page.judged)
        for row in rows:
            row.backtest_id = backtest.pk
        BacktestItem.objects.bulk_create(rows, batch_size=500)
        BacktestUnchanged.objects.bulk_create(build_unchanged(backtest, page.judged))
        done += page.entries
        signs.give(done, counts.to_json)
    signs.finish(done, counts.to_json())
