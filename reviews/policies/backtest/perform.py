"""Run a backtest: judge, count, and store what changes, telling how far it came.

What is written goes by the worker's own mark: one that was cancelled, or taken over because
it gave no sign, writes nothing more.
"""

from __future__ import annotations

import json
import logging
import time
from datetime import timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from guidance.core.policy import load_policy
from ledger.backtest.engine import judge_history
from reviews.models import Backtest, BacktestItem, BacktestState
from reviews.policies.backtest.counts import Counts
from reviews.policies.backtest.selection import (
    count_entries,
    select_history,
    take_pages,
)

# A worker that gives no sign for so long is gone.
LOST_AFTER = timedelta(seconds=60)
ATTEMPTS = 3
# How often it says how far it came.
SIGN_S = 0.5

logger = logging.getLogger(__name__)


def perform_next() -> bool:
    """Run the next backtest that waits, or whose worker is gone; False if there is none."""
    now = timezone.now()
    lost = Q(state=BacktestState.RUNNING, seen_at__lt=now - LOST_AFTER)
    due = Backtest.objects.filter(Q(state=BacktestState.WAITING) | lost)
    for pk in due.order_by("pk").values_list("pk", flat=True):
        worker = uuid4()
        taken = due.filter(pk=pk).update(
            state=BacktestState.RUNNING,
            worker=worker,
            attempts=F("attempts") + 1,
            started_at=now,
            seen_at=now,
        )
        if taken:
            _perform(Backtest.objects.get(pk=pk), worker)
            return True
    return False


def _perform(backtest: Backtest, worker: UUID) -> None:
    own = Backtest.objects.filter(pk=backtest.pk, worker=worker)
    try:
        if backtest.attempts > ATTEMPTS:
            raise _Ended(f"Its worker ended {ATTEMPTS} times before it was done.")
        backtest.items.all().delete()
        _judge(backtest, own)
    except _Cancelled:
        pass
    except Exception as error:
        reason = str(error)
        if not isinstance(error, _Ended):
            logger.exception("Backtest %s failed", backtest.code)
            reason = f"It could not be finished ({type(error).__name__}: {error})."
        own.filter(state=BacktestState.RUNNING).update(
            state=BacktestState.FAILED, reason=reason, ended_at=timezone.now()
        )


class _Ended(Exception):
    """It cannot go on, and says why in words."""


class _Cancelled(Exception):
    """Somebody ended it, or another worker has it."""


def _judge(backtest: Backtest, own: QuerySet[Backtest]) -> None:
    counts, runs = Counts(), select_history(backtest)
    done, total = 0, count_entries(runs)
    store = _Signs(own, total=total)
    draft = load_policy(json.loads(backtest.document))
    pages = judge_history(runs, draft=draft, since=backtest.since, until=backtest.until)
    began = time.monotonic()
    for page in take_pages(pages, backtest.limit):
        rows = counts.add(page.judged)
        for row in rows:
            row.backtest_id = backtest.pk
        BacktestItem.objects.bulk_create(rows, batch_size=500)
        done += page.entries
        store.give(done, counts)
        if settings.EMBEDDED:
            # Its thread shares the process with the server, which comes first.
            time.sleep((time.monotonic() - began) / 2)
        began = time.monotonic()
    store.give(done, counts, state=BacktestState.FINISHED, total=done)


class _Signs:
    """Stores how far it came, every so often; notices when it was cancelled."""

    def __init__(self, own: QuerySet[Backtest], *, total: int) -> None:
        self._own = own.filter(state=BacktestState.RUNNING)
        self._total = total
        self._at = time.monotonic()
        self._own.update(total=total)

    def give(
        self,
        done: int,
        counts: Counts,
        *,
        state: BacktestState | None = None,
        total: int | None = None,
    ) -> None:
        if state is None and time.monotonic() - self._at < SIGN_S:
            return
        self._at = time.monotonic()
        at = timezone.now()
        ending = {"state": state, "ended_at": at} if state else {}
        known = self._own.update(
            done=done,
            total=max(self._total, done) if total is None else total,
            result=json.dumps(counts.to_json(), ensure_ascii=False),
            seen_at=at,
            **ending,
        )
        if not known:
            raise _Cancelled
