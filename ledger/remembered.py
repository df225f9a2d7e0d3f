"""Run states that the writer remembers, so that a busy run costs no read per step.

A remembered state is worth trying, never worth believing: another process may have
moved the run. Compare-and-set catches that on writes, `fresh` on refusals.
"""

from __future__ import annotations

from collections import OrderedDict

from accounts.errors import NotFound
from accounts.identifiers import parse_code
from ledger.models import Run
from ledger.state import RunState, state_of

LIMIT = 10_000


class RememberedStates:
    def __init__(self) -> None:
        self._states: OrderedDict[str, RunState] = OrderedDict()

    def get(self, code: str) -> RunState:
        return self._states.get(code) or self.fresh(code)

    def fresh(self, code: str) -> RunState:
        """The run as it is stored now."""
        known = parse_code(code)
        run = Run.objects.filter(code=known).first() if known else None
        if run is None:
            raise NotFound
        state = state_of(run)
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
