"""Run states that the writer remembers, so that a busy run costs no read per step.

A remembered state is worth trying, never worth believing: another process may have
moved the run. Compare-and-set catches that on writes, `fresh` on refusals.
"""

from __future__ import annotations

from collections import OrderedDict
from uuid import UUID

from common.errors import NotFound
from common.ids import parse_code
from ledger.models import Run
from ledger.state import COLUMNS, RunState, state_of
from ledger.writer import sql
from ledger.writer.locking import Held, hold_run

LIMIT = 10_000

_COLUMNS = ("id", "code", "project_id", "agent_id", "policy_id", *dict(COLUMNS))
_STORED = f"SELECT {', '.join(_COLUMNS)} FROM ledger_run WHERE code = %s"  # noqa: S608


class RememberedStates:
    def __init__(self) -> None:
        self._states: OrderedDict[str, RunState] = OrderedDict()

    def get(self, code: str) -> RunState:
        return self._states.get(code) or self.fresh(code)

    def fresh(self, code: str) -> RunState:
        """The run as it is stored now."""
        for row in sql.run(_STORED, [_known(code)]):
            return self._read(row)
        raise NotFound

    def held(self, code: str) -> tuple[Held, RunState]:
        """The run, read while its project is held."""
        found = hold_run(_known(code), _COLUMNS)
        if found is None:
            raise NotFound
        held, row = found
        return held, self._read(row)

    def _read(self, row: sql.Row) -> RunState:
        state = state_of(sql.loaded(Run, _COLUMNS, row))
        self.remember(state)
        return state

    def remember(self, state: RunState) -> None:
        self._states[state.code] = state
        self._states.move_to_end(state.code)
        if len(self._states) > LIMIT:
            self._states.popitem(last=False)

    def forget(self, code: str) -> None:
        self._states.pop(code, None)

    def clear(self) -> None:
        self._states.clear()


def _known(code: str) -> UUID:
    known = parse_code(code)
    if known is None:
        raise NotFound
    return known
