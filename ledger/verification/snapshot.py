"""Read many rows as they were at one moment, beside those who go on writing."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

from ledger.jobs.perform import JobEnded

T = TypeVar("T")

BUSY = "The database was busy, trying again."
GAVE_UP = "The database was busy each time this was tried. Try again later."
# It is tried so many times, with a longer rest before each.
ATTEMPTS = 5
BUSY_ERRORS = (InterfaceError, OperationalError)
REST_S = 0.5
# Reading is over when the work is, however long that thinks between two queries.
_PG_BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
)

logger = logging.getLogger(__name__)
_inside = threading.local()


class DatabaseBusy(JobEnded):
    """It could not be read, time after time."""

    def __init__(self) -> None:
        super().__init__(GAVE_UP)


@contextmanager
def read_snapshot() -> Iterator[None]:
    """Nothing that is stored meanwhile is seen; inside of another one, that one holds.

    Not by Django's own transaction: on SQLite that would hold up every writer. This one
    holds up nobody, but what is written meanwhile stays in SQLite's log until it ends.
    """
    if connection.in_atomic_block or getattr(_inside, "snapshot", False):
        yield
        return
    _run(*(_PG_BEGIN if connection.vendor == "postgresql" else ("BEGIN",)))
    _inside.snapshot = True
    try:
        yield
    except BUSY_ERRORS:
        # Perhaps of no use any more: the next one begins on another connection.
        connection.close()
        raise
    except BaseException:
        _run("ROLLBACK")
        raise
    else:
        _run("COMMIT")
    finally:
        _inside.snapshot = False


def try_again(work: Callable[[], T], *, tell: Callable[[str], object]) -> T:
    """Do it in a snapshot of its own; where the database was busy, all of it again."""

    def work_inside() -> T:
        with read_snapshot():
            return work()

    return retry_busy(work_inside, tell=tell)


def retry_busy(work: Callable[[], T], *, tell: Callable[[str], object]) -> T:
    """Once more where the database was busy; DatabaseBusy where it was each time."""
    for attempt in range(1, ATTEMPTS):
        try:
            return work()
        except BUSY_ERRORS as error:
            logger.warning("The database was busy", exc_info=error)
            tell(BUSY)
            time.sleep(REST_S * attempt)
    try:
        return work()
    except BUSY_ERRORS as error:
        raise DatabaseBusy from error


def _run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
