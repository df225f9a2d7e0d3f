"""Questions to parts that may hang, with an answer in any case."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    connection,
    connections,
)
from django.db.backends.base.base import BaseDatabaseWrapper

T = TypeVar("T")
# Of libpq, which takes no less.
CONNECT_SECONDS = 2


class Question(Generic[T]):
    """Asked on a thread of its own, which does not keep the process from ending, and only
    once at a time: however many ask, one thread waits for a part that hangs."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._answer: Future[T] | None = None
        self._began = 0.0

    async def get_answer(self, *, within: float) -> T:
        """The answer, its error, or TimeoutError."""
        answer = asyncio.wrap_future(self._begin())
        with suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(answer), within)
        # Whatever comes of it later is the answer to who asks then.
        answer.add_done_callback(lambda late: late.cancelled() or late.exception())
        raise TimeoutError(f"no answer for {monotonic() - self._began:.0f} s")

    def _begin(self) -> Future[T]:
        with self._lock:
            if self._answer is None or self._answer.done():
                self._answer = Future()
                self._began = monotonic()
                threading.Thread(
                    target=self._find, args=(self._answer,), name="health", daemon=True
                ).start()
            return self._answer

    def _find(self, answer: Future[T]) -> None:
        try:
            answer.set_result(self._ask())
        except BaseException as error:
            answer.set_exception(error)


class OwnConnection:
    """Have queries use a connection that is no part of the pool: a pool whose connections
    are all in use says nothing of the database."""

    _all: ClassVar[list[OwnConnection]] = []

    def __init__(self) -> None:
        self._link: BaseDatabaseWrapper | None = None
        self._all.append(self)

    @classmethod
    def close_all(cls) -> None:
        """Close those of this process, which ends; one that is used again opens again."""
        for each in cls._all:
            if each._link is not None:
                each._link.close()

    def ask(self, query: Callable[[], T]) -> T:
        """Run it with the connection; once more on a new one if that was lost."""
        link = connections[DEFAULT_DB_ALIAS] = self._get_link()
        try:
            return query()
        except (DatabaseError, InterfaceError):
            link.close()
            return query()

    def _get_link(self) -> BaseDatabaseWrapper:
        if self._link is None:
            link = connection.copy()
            if link.vendor == "postgresql":
                link.settings_dict["OPTIONS"].pop("pool", None)
                link.settings_dict["OPTIONS"]["connect_timeout"] = CONNECT_SECONDS
            # One thread after the other uses it.
            link.inc_thread_sharing()
            self._link = link
        return self._link
