"""The guard that forbids `decide` the database sees queries of both kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import httpx
import pytest

from ledger.models import Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, sql, writer
from tests.builders import start_run
from tests.pure_decide import DECIDED, AskedTheDatabase


@dataclass(kw_only=True)
class Impure(ChangeRequest[None]):
    ask: Callable[[], object]

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        self.ask()
        return Plan(run, at).change()


@dataclass(kw_only=True)
class ImpureInBatch(Impure):
    locked = False


@pytest.mark.parametrize("kind", [Impure, ImpureInBatch])
@pytest.mark.parametrize(
    "ask", [Run.objects.exists, lambda: sql.execute("SELECT 1", [])], ids=["orm", "sql"]
)
def test_a_query_in_decide_is_refused(
    agent: httpx.Client, kind: type[Impure], ask: Callable[[], object]
) -> None:
    run = start_run(agent)
    with pytest.raises(AskedTheDatabase):
        writer().perform_now(kind(run_code=run, ask=ask))


def test_requests_of_agents_are_guarded(agent: httpx.Client) -> None:
    start_run(agent)
    assert "StartRun" in DECIDED
