"""Send a transaction to the database, do something else, and read the answer later.

What is sent together is one transaction, which is committed once the answer is there. While
the database works, the writer judges what comes next (bench steps). The connection is busy
meanwhile: whatever else of this thread needs it, waits for the answer first.

PostgreSQL works in a process of its own. SQLite works in the thread that asks it: there only
the commit, which waits for the disk, is left to another thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from select import POLLIN, POLLOUT, poll
from sqlite3 import Connection as SqliteConnection
from typing import Any

import psycopg
from django.db import connection
from psycopg.errors import InvalidSqlStatementName
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from ledger.plan import Statement
from ledger.writer.prepared import check, encode, forget_prepared, prepare


class _Thread(threading.local):
    def __init__(self) -> None:
        self.sent: Sent | SentCommit | None = None
        # Its thread starts with the first commit, and ends with this one.
        self.commits = ThreadPoolExecutor(1, thread_name_prefix="commit")


_thread = _Thread()


def wait_for_sent() -> None:
    """Until the connection of this thread is free."""
    if _thread.sent is not None:
        _thread.sent.wait()


class Sent:
    """Statements with numbered parameters, on their way; of the last one ids come back."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        wait_for_sent()
        self._statements = statements
        self._results: list[PGresult] = []
        self._error: Exception | None = None
        self._is_waiting = False
        with connection.wrap_database_errors:
            self._send()

    def is_done(self, seconds: float = 0) -> bool:
        """Whether the answer can be read without waiting any longer than that."""
        if not self._is_waiting:
            return True
        try:
            self._wait_until(POLLIN, seconds)
        except psycopg.OperationalError:
            return True  # it is lost, which `read_ids` will tell
        return not self._pgconn.is_busy()

    def wait(self) -> None:
        """Whatever went wrong is told by `read_ids`."""
        if not self._is_waiting:
            return
        self._is_waiting = False
        _thread.sent = None
        try:
            self._results = self._read()
            self._pgconn.exit_pipeline_mode()
        except psycopg.Error as error:
            self._error = error
            self._connection.close()  # nobody can use it as it is now

    def read_ids(self) -> set[int]:
        """After the commit; raises what kept it from being done."""
        with connection.wrap_database_errors:
            self.wait()
            try:
                self._check()
            except InvalidSqlStatementName:
                # Whoever has dropped it, it is prepared again: nothing was done.
                forget_prepared(self._connection)
                self._send()
                self.wait()
                self._check()
        last = self._results[-1]
        return {int(last.get_value(row, 0) or 0) for row in range(last.ntuples)}

    def _send(self) -> None:
        connection.ensure_connection()
        self._connection: psycopg.Connection[Any] = connection.connection
        self._pgconn: PGconn = self._connection.pgconn
        prepared = [
            (prepare(self._connection, text), [encode(each) for each in given])
            for text, given in self._statements
        ]
        self._poll = poll()
        try:
            self._pgconn.enter_pipeline_mode()
            for name, given in prepared:
                self._pgconn.send_query_prepared(name, given)
            self._pgconn.pipeline_sync()
            while self._pgconn.flush():
                self._wait_until(POLLIN | POLLOUT)
        except BaseException:
            self._connection.close()  # nobody can use it as it is now
            raise
        self._results, self._error, self._is_waiting = [], None, True
        _mark_busy(self)

    def _read(self) -> list[PGresult]:
        results: list[PGresult] = []
        ended = False
        while True:
            while self._pgconn.is_busy():
                self._wait_until(POLLIN)
            result = self._pgconn.get_result()
            if result is None and ended:
                raise psycopg.OperationalError("the connection is lost")
            ended = result is None  # so ends what one statement gives
            if result is not None:
                if result.status == ExecStatus.PIPELINE_SYNC:
                    return results
                results.append(result)

    def _wait_until(self, ready: int, seconds: float | None = None) -> None:
        self._poll.register(self._pgconn.socket, ready)
        limit = None if seconds is None else seconds * 1_000
        if any(event & ~POLLOUT for _, event in self._poll.poll(limit)):
            self._pgconn.consume_input()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error
        for result in self._results:
            check(self._connection, result)


class SentCommit:
    """A transaction of SQLite that is being committed. `store` writes what belongs to it,
    by the driver, and returns ids."""

    def __init__(self, store: Callable[[], set[int]]) -> None:
        wait_for_sent()
        connection.ensure_connection()
        driver: SqliteConnection = connection.connection
        with connection.wrap_database_errors:
            driver.execute("BEGIN IMMEDIATE")
            try:
                self._ids = store()
                self._commit = _thread.commits.submit(_commit, driver)
            except BaseException:
                driver.rollback()
                raise
        _mark_busy(self)

    def is_done(self, seconds: float = 0) -> bool:
        """Within so many seconds."""
        if seconds and not self._commit.done():
            wait([self._commit], seconds)
        return self._commit.done()

    def wait(self) -> None:
        """Whatever went wrong is told by `read_ids`."""
        if _thread.sent is self:
            _thread.sent = None
        wait([self._commit])

    def read_ids(self) -> set[int]:
        """After the commit; raises what kept it from being done."""
        with connection.wrap_database_errors:
            self.wait()
            self._commit.result()
        return self._ids


def _commit(driver: SqliteConnection) -> None:
    try:
        driver.commit()
    except BaseException:
        driver.rollback()
        raise


def _mark_busy(sent: Sent | SentCommit) -> None:
    """Whatever else this thread asks its database for, waits."""
    _thread.sent = sent
    if _wait_first not in connection.execute_wrappers:
        connection.execute_wrappers.insert(0, _wait_first)


def _wait_first(execute: Callable[..., Any], *given: Any) -> Any:
    """Around each query of the ORM (Django's `execute_wrappers`)."""
    wait_for_sent()
    return execute(*given)
