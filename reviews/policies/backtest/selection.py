"""Which stored decisions a backtest judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db.models import QuerySet, Sum

from ledger.backtest.engine import JudgedPage
from ledger.backtest.history import select_runs
from ledger.models import Run
from ledger.selectors import exclude_system_runs
from reviews.models import Backtest


def select_history(backtest: Backtest) -> QuerySet[Run]:
    """The runs that may have decisions for it."""
    runs = exclude_system_runs(Run.objects.filter(project_id=backtest.project_id))
    if not backtest.all_runs:
        runs = runs.filter(policy__name=backtest.policy)
    if backtest.agent_id is not None:
        runs = runs.filter(agent_id=backtest.agent_id)
    if backtest.run_id is not None:
        runs = runs.filter(pk=backtest.run_id)
    return select_runs(runs, since=backtest.since, until=backtest.until)


def count_entries(runs: QuerySet[Run]) -> int:
    """How many entries have to be read, as far as they are known before."""
    return runs.aggregate(sum=Sum("head_seq"))["sum"] or 0


def take_pages(pages: Iterable[JudgedPage], limit: int | None) -> Iterator[JudgedPage]:
    """Pages up to so many decisions, the last one cut where the limit is."""
    rest = limit
    for page in pages:
        if rest is None:
            yield page
            continue
        judged = page.judged[:rest]
        rest -= len(judged)
        yield JudgedPage(entries=page.entries, judged=judged)
        if not rest:
            return
