"""Forbids every `decide` the database: what it has to know, `load` reads before it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest
from django.db import connection

from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, batch, sql

_local = threading.local()
# Classes of change requests that have decided in this process.
DECIDED: set[str] = set()


class AskedTheDatabase(AssertionError):
    """`decide` ran a query."""


def forbid_queries(*_args: Any, **_named: Any) -> Any:
    raise AskedTheDatabase("decide asks the database nothing: read it in load")


@contextmanager
def deciding() -> Iterator[None]:
    _local.deciding = True
    try:
        with connection.execute_wrapper(forbid_queries):
            yield
    finally:
        _local.deciding = False


def is_exempt(request: ChangeRequest[Any], run: RunState) -> bool:
    """The loop's own requests, and what follows there from the end of a loop action."""
    if type(request).__module__.startswith("loop."):
        return True
    return any(review.kind == "loop_action" for review in run.open_reviews)


def guard_decide(patch: pytest.MonkeyPatch) -> None:
    decide, execute = batch.decide, sql.execute

    def guarded(
        request: ChangeRequest[Any], run: RunState, at: datetime
    ) -> Change[Any]:
        if is_exempt(request, run):
            return decide(request, run, at)
        DECIDED.add(type(request).__name__)
        with deciding():
            return decide(request, run, at)

    def checked(text: str, given: Sequence[Any]) -> list[sql.Row]:
        if getattr(_local, "deciding", False):
            forbid_queries()
        return execute(text, given)

    patch.setattr(batch, "decide", guarded)
    patch.setattr(sql, "execute", checked)
