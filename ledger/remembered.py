"""Run states that the writer remembers, so that a busy run costs no read per step.

A remembered state is worth trying, never worth believing: another process may have
moved the run. Compare-and-set catches that on writes, `fresh` on refusals.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from accounts.errors import NotFound
from accounts.identifiers import parse_code
from ledger import ready
from ledger.models import Run
from ledger.ready import time_of, uuid_of
from ledger.state import COLUMNS, RunState, state_of

LIMIT = 10_000

_COLUMNS = ("id", "code", "project_id", "agent_id", "policy_id", *dict(COLUMNS))
_STORED = (
    f"SELECT {{clock}}, {', '.join(_COLUMNS)} FROM ledger_run WHERE code = %s"  # noqa: S608
)


class RememberedStates:
    def __init__(self) -> None:
        self._states: OrderedDict[str, RunState] = OrderedDict()

    def get(self, code: str) -> RunState:
        return self._states.get(code) or self.fresh(code)

    def fresh(self, code: str) -> RunState:
        """The run as it is stored now."""
        return self.fresh_and_time(code)[0]

    def fresh_and_time(self, code: str) -> tuple[RunState, datetime]:
        """And what the time is, by the database's clock where it has one."""
        known = parse_code(code)
        clock = "clock_timestamp()" if connection.vendor == "postgresql" else "NULL"
        rows = ready.run(_STORED.format(clock=clock), [known]) if known else ()
        if not rows:
            raise NotFound
        at, *columns = rows[0]
        state = state_of(_run(columns))
        self.remember(state)
        return state, at or datetime.now(UTC)

    def remember(self, state: RunState) -> None:
        self._states[state.code] = state
        self._states.move_to_end(state.code)
        if len(self._states) > LIMIT:
            self._states.popitem(last=False)

    def forget(self, code: str) -> None:
        self._states.pop(code, None)

    def clear(self) -> None:
        self._states.clear()


def _run(row: Sequence[Any]) -> Run:
    """As much of the run as a state is made of."""
    columns = dict(zip(_COLUMNS, row, strict=True))
    columns["code"] = uuid_of(columns["code"])
    for name in ("updated_at", "finished_at"):
        columns[name] = columns[name] and time_of(columns[name])
    return Run(**columns)
