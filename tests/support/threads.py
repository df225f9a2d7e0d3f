"""Threads of a test that use the database: each gives its connection back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    def submit(self, work: Callable[..., T], /, *args: Any, **more: Any) -> Future[T]:
        return super().submit(tidily, work, *args, **more)


def tidily(work: Callable[..., T], *args: Any, **more: Any) -> T:
    """A thread that ends without this keeps its place in the pool for ever."""
    try:
        return work(*args, **more)
    finally:
        connection.close()


def at_once(*calls: Callable[[], T]) -> list[T]:
    """All calls start at the same moment; the answers in their order."""
    start = Barrier(len(calls))

    def go(call: Callable[[], T]) -> T:
        start.wait(timeout=60)
        return call()

    with Threads(len(calls)) as pool:
        return list(pool.map(go, calls))
