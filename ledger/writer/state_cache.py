"""Run states that the writer remembers, so that a busy run costs no read per step.

A remembered state is worth trying, never worth believing: another process may have
moved the run. Compare-and-set catches that on writes, `read` on refusals.
"""

from __future__ import annotations

from collections import OrderedDict
from uuid import UUID

from common.errors import NotFound
from common.ids import parse_code
from ledger.models import Run
from ledger.state import COLUMNS, RunState, build_state
from ledger.writer import sql
from ledger.writer.locking import ProjectLock, lock_run

LIMIT = 10_000

_READ = {
    *("id", "code", "project_id", "agent_id", "policy_id", "lineage", "labels"),
    *dict(COLUMNS),
}
# In the order of the model: its instances are built so.
RUN_COLUMNS = tuple(
    field.attname for field in Run._meta.concrete_fields if field.attname in _READ
)
_SELECT = f"SELECT {', '.join(RUN_COLUMNS)} FROM ledger_run WHERE code = %s"  # noqa: S608


class StateCache:
    def __init__(self) -> None:
        self._states: OrderedDict[str, RunState] = OrderedDict()

    def get(self, code: str) -> RunState:
        return self._states.get(code) or self.read(code)

    def find(self, code: str) -> RunState | None:
        """The same; None where there is no such run."""
        try:
            return self.get(code)
        except NotFound:
            return None

    def read(self, code: str) -> RunState:
        """The run as it is stored now."""
        for row in sql.execute(_SELECT, [_parse_known_code(code)]):
            return self._build(row)
        raise NotFound

    def lock(self, code: str) -> tuple[ProjectLock, RunState]:
        """The run, read while its project is held."""
        found = lock_run(_parse_known_code(code), RUN_COLUMNS)
        if found is None:
            raise NotFound
        held, row = found
        return held, self._build(row)

    def _build(self, row: sql.Row) -> RunState:
        state = build_state(sql.build_instance(Run, RUN_COLUMNS, row))
        self.put(state)
        return state

    def put(self, state: RunState) -> None:
        self._states[state.code] = state
        self._states.move_to_end(state.code)
        if len(self._states) > LIMIT:
            self._states.popitem(last=False)

    def drop(self, code: str) -> None:
        self._states.pop(code, None)

    def clear(self) -> None:
        self._states.clear()


def _parse_known_code(code: str) -> UUID:
    known = parse_code(code)
    if known is None:
        raise NotFound
    return known
