"""The guard that forbids `decide` the database sees queries of both kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from gateway.use_cases.runs import StartRun
from ledger.models import Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer, sql
from tests.support.builders import start_run
from tests.support.pure_decide import (
    DECIDED,
    AskedTheDatabase,
    get_name,
    is_whole_run,
    list_undecided,
)


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
        get_writer().perform_now(kind(run_code=run, ask=ask))


def test_every_change_request_is_known_whatever_module_defines_it() -> None:
    """At the end of a whole run each of them must have been decided."""
    undecided = list_undecided(())
    kinds = ("StartRun", "DecideSignals", "AddLesson", "AbortRun", "RedactCheckpoint")
    for kind in kinds:
        (name,) = (name for name in undecided if name.endswith(f".{kind}"))
        assert name not in list_undecided([name])
    assert not any("ChangeRequest" in name for name in undecided)  # those are abstract
    assert not any(name.startswith("tests.") for name in undecided)


def test_a_decided_request_is_written_down(agent: httpx.Client) -> None:
    start_run(agent)
    assert get_name(StartRun) in DECIDED


Source = pytest.Config.ArgsSource
NOTHING_CHOSEN = {"lane": None, "keyword": "", "markexpr": "", "collectonly": False}


@pytest.mark.parametrize(
    ("source", "chosen", "whole"),
    [
        (Source.TESTPATHS, {}, True),
        (Source.ARGS, {}, False),
        (Source.TESTPATHS, {"lane": "quick"}, False),
        (Source.TESTPATHS, {"keyword": "loop"}, False),
    ],
)
def test_only_a_whole_run_has_to_decide_them_all(
    source: pytest.Config.ArgsSource, chosen: dict[str, str], whole: bool
) -> None:
    option = SimpleNamespace(**{**NOTHING_CHOSEN, **chosen})
    config = SimpleNamespace(args_source=source, option=option)
    assert is_whole_run(cast(pytest.Config, config)) is whole
