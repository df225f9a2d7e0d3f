"""The worker: turns events into deliveries and sends them until nothing is due.

It runs on the calling thread, once per process; several processes share the work. It
writes in batches, because with SQLite each commit delays the ledger's writer.
"""

from __future__ import annotations

import logging
import threading
import time

from django.db import DatabaseError

from webhooks.delivery.attempt import LeasedDelivery, Outcome
from webhooks.delivery.fanout import fan_out
from webhooks.delivery.http_pool import HttpPool
from webhooks.delivery.leases import (
    has_due_deliveries,
    lease_due_deliveries,
    release_leases,
)
from webhooks.delivery.results import record_outcomes

# The longest that one call takes new work, so that a worker process can end after it.
TURN_S = 30.0
PAUSE_S = 0.25
# Outcomes that arrive within this time are stored together.
GATHER_S = 0.1
TRIES = 5
# How long a process that ends waits for outcomes.
LAST_S = 3.0

logger = logging.getLogger(__name__)
_turn = threading.Lock()
_stopping = threading.Event()


def stop_delivering() -> None:
    """The process ends: lease nothing more, and leave what is in flight to others."""
    _stopping.set()


def deliver(pool: HttpPool | None = None) -> int:
    """Send until nothing is due; returns how many attempts were made."""
    if not _turn.acquire(blocking=False):
        return 0  # another thread of this process is delivering
    try:
        if not fan_out() and not has_due_deliveries():
            return 0  # the usual case: two queries, no thread started
        with pool or HttpPool() as open_pool:
            return _deliver_until_idle(open_pool)
    finally:
        _turn.release()


def _deliver_until_idle(pool: HttpPool) -> int:
    ends = time.monotonic() + TURN_S
    attempts = 0
    while not _stopping.is_set():
        new, leased = _take_work(pool) if time.monotonic() < ends else (0, [])
        for delivery in leased:
            pool.send(delivery)
        attempts += len(leased)
        if pool.in_flight:
            _store_outcomes(pool.collect_outcomes(within=PAUSE_S, gather=GATHER_S))
        elif not new and not leased:
            return attempts
    _hand_over(pool)
    return attempts


def _take_work(pool: HttpPool) -> tuple[int, list[LeasedDelivery]]:
    """Create and lease deliveries. A database error must not lose what is in flight."""
    try:
        return fan_out(), lease_due_deliveries(pool)
    except DatabaseError:
        if not pool.in_flight:
            raise
        logger.exception("No webhooks could be leased; those in flight continue")
        return 0, []


def _hand_over(pool: HttpPool) -> None:
    _store_outcomes(pool.collect_outcomes(within=LAST_S, gather=LAST_S))
    release_leases(pool.in_flight)


def _store_outcomes(outcomes: list[Outcome]) -> None:
    """Try several times: a delivery whose outcome is not stored is sent again."""
    for left in reversed(range(TRIES)):
        try:
            return record_outcomes(outcomes)
        except DatabaseError:
            if not left:
                raise
            logger.warning("Outcomes of webhooks could not be stored; trying again")
            time.sleep(PAUSE_S)
