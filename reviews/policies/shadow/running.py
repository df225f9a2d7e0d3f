"""The drafts that run beside their policies now, in the memory of this process.

Who decides looks here, never into the database. What another process starts or stops is
read every `SECONDS`; what is started here is known at once. What both policies decide alike
is only counted, here first, and stored just as often.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import F
from django.utils import timezone

from guidance.selectors import LoadedPolicy, get_policy
from ledger.backtest.judges import PolicyPair
from ledger.waiting.per_loop import PerLoop
from ledger.writer.db_threads import run_in_db_thread
from reviews.models import PolicyShadow

SECONDS = 2.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningShadow:
    """`draft` is None where the stored draft cannot be read any more."""

    id: int
    code: str
    started_at: datetime
    ends_at: datetime
    draft: LoadedPolicy | None
    pairs: dict[int, PolicyPair] = field(default_factory=dict)

    def find_pair(self, own: LoadedPolicy) -> PolicyPair | None:
        """A run's own policy and the draft; compared once for all its decisions."""
        if self.draft is None:
            return None
        found = self.pairs.get(own.id)
        if found is None:
            found = PolicyPair(own=own.policy, draft=self.draft.policy)
            self.pairs[own.id] = found
        return found


_running: dict[tuple[int, str], RunningShadow] = {}
# What both decide alike, by the shadow's id and the column that counts it.
_same: Counter[tuple[int, str]] = Counter()
_lock = threading.Lock()
# One refresh at a time: a slow one would forget what a later one has read.
_refreshing = threading.Lock()


def find_shadow(
    *, project_id: int, policy: LoadedPolicy, at: datetime
) -> RunningShadow | None:
    """The draft that runs beside this policy; a look at a dictionary."""
    found = _running.get((project_id, policy.name))
    if found is None or not found.started_at <= at < found.ends_at:
        return None
    return found


def count_same(shadow: RunningShadow, *, steps: int = 0, calls: int = 0) -> None:
    with _lock:
        _same[shadow.id, "same_steps"] += steps
        _same[shadow.id, "same_calls"] += calls


def refresh_shadows() -> None:
    """Store what was counted, and read what runs now."""
    global _running
    with _refreshing:
        store_counts()
        rows = PolicyShadow.objects.filter(ended_at=None, ends_at__gt=timezone.now())
        before = {shadow.id: shadow for shadow in _running.values()}
        _running = {
            (row.project_id, row.policy.name): before.get(row.pk) or _load(row)
            for row in rows.select_related("policy")
        }


def store_counts() -> None:
    global _same
    with _lock:
        counted, _same = _same, Counter()
    for (pk, column), count in sorted(counted.items()):
        if not count:
            continue
        try:
            PolicyShadow.objects.filter(pk=pk).update(**{column: F(column) + count})
        except Exception:
            with _lock:
                _same[pk, column] += count
            raise


def _load(row: PolicyShadow) -> RunningShadow:
    try:
        draft = get_policy(row.version_id)
    except Exception:  # each decision beside it is told as one that could not be judged
        logger.exception("The draft of shadow %s cannot be read", row.code)
        draft = None
    return RunningShadow(
        id=row.pk,
        code=str(row.code),
        started_at=row.started_at,
        ends_at=row.ends_at,
        draft=draft,
    )


class ShadowRefresher:
    """Keeps this process current while its server runs."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._failed = False

    async def start(self) -> None:
        await self._refresh()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._refresh()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            await self._refresh()

    async def _refresh(self) -> None:
        try:
            await run_in_db_thread(refresh_shadows)
        except Exception:
            # The database is away: what is known stays, and it is tried again. Once is
            # enough to say so.
            if not self._failed:
                logger.exception("Drafts in shadow cannot be read, trying again")
            self._failed = True
        else:
            self._failed = False


_refreshers = PerLoop(ShadowRefresher)


def get_shadow_refresher() -> ShadowRefresher:
    """That of the running event loop."""
    return _refreshers.get()
