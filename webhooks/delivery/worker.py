"""The courier: makes deliveries of events and sends them, as long as there is work.

One a process at a time, on the thread that calls it; several processes share the work.
It writes in batches: with SQLite each commit holds up the ledger's writer for a moment.
"""

from __future__ import annotations

import logging
import threading
import time

from django.db import DatabaseError

from webhooks.delivery.attempt import Order, Outcome
from webhooks.delivery.fanout import fan_out
from webhooks.delivery.http_pool import Sender
from webhooks.delivery.leases import give_back, lease, something_due
from webhooks.delivery.results import record

# Then the next one takes over, so that a worker can end between two of them.
TURN_S = 30.0
PAUSE_S = 0.25
# Answers that come together are written together.
GATHER_S = 0.1
TRIES = 5
# How long answers are waited for when the process ends.
LAST_S = 3.0

logger = logging.getLogger(__name__)
_turn = threading.Lock()
_ending = threading.Event()


def end() -> None:
    """The process ends: take nothing more, and leave what is under way to the next."""
    _ending.set()


def deliver(sender: Sender | None = None) -> int:
    """Work until nothing is due; returns how many attempts were made."""
    if not _turn.acquire(blocking=False):
        return 0  # this process is at it already
    try:
        if not fan_out() and not something_due():
            return 0  # most of the time: two queries, nothing started
        with sender or Sender() as open_sender:
            return _work(open_sender)
    finally:
        _turn.release()


def _work(sender: Sender) -> int:
    ends = time.monotonic() + TURN_S
    attempts = 0
    while not _ending.is_set():
        told, orders = _taken(sender) if time.monotonic() < ends else (0, [])
        for order in orders:
            sender.send(order)
        attempts += len(orders)
        if sender.under_way:
            _record(sender.outcomes(within=PAUSE_S, gather=GATHER_S))
        elif not told and not orders:
            return attempts
    _leave(sender)
    return attempts


def _taken(sender: Sender) -> tuple[int, list[Order]]:
    """New work. Trouble with the database must not lose what is under way."""
    try:
        return fan_out(), lease(sender)
    except DatabaseError:
        if not sender.under_way:
            raise
        logger.exception("No more webhooks could be taken; what is under way goes on")
        return 0, []


def _leave(sender: Sender) -> None:
    _record(sender.outcomes(within=LAST_S, gather=LAST_S))
    give_back(sender.under_way)


def _record(outcomes: list[Outcome]) -> None:
    """What is not written down is sent again: worth more than one try."""
    for left in reversed(range(TRIES)):
        try:
            return record(outcomes)
        except DatabaseError:
            if not left:
                raise
            logger.warning("Outcomes of webhooks could not be stored; trying again")
            time.sleep(PAUSE_S)
