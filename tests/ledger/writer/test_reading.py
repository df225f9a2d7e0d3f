"""What the writer and its neighbours read: again after trouble, and never for ever."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from django.db.utils import InterfaceError, OperationalError, ProgrammingError

from common.errors import NotFound
from common.ids import uuid7
from ledger.models import Run
from ledger.waiting.hub import _get_heads
from ledger.writer import db_threads, state_cache
from ledger.writer.db_threads import run_in_db_thread
from ledger.writer.state_cache import StateCache
from tests.support.builders import start_run, step


@pytest.mark.parametrize("trouble", [OperationalError, InterfaceError])
async def test_a_read_is_asked_again_on_a_new_connection(
    trouble: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    spy = SimpleNamespace(close=lambda: happened.append("closed"))
    monkeypatch.setattr(db_threads, "connection", spy)

    def query() -> str:
        happened.append("asked")
        if len(happened) == 1:
            raise trouble("The server went away.")
        return "answer"

    assert await run_in_db_thread(query) == "answer"
    assert happened == ["asked", "closed", "asked"]


@pytest.mark.parametrize("trouble", [OperationalError, ProgrammingError])
async def test_a_read_that_fails_again_or_by_our_fault_is_an_error(
    trouble: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(db_threads, "connection", SimpleNamespace(close=lambda: None))

    def query() -> None:
        asked.append(1)
        raise trouble("no")

    with pytest.raises(trouble):
        await run_in_db_thread(query)
    assert len(asked) == (2 if trouble is OperationalError else 1)


def test_the_states_of_few_runs_are_remembered_the_oldest_go_first(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_cache, "LIMIT", 2)
    first, second, third = (start_run(agent) for _ in range(3))
    states = StateCache()
    for run in (first, second):
        states.read(run)
    states.put(states.get(first))  # it has moved: the second one is the oldest now
    states.read(third)
    assert list(states._states) == [first, third]

    states.drop(third)
    states.drop(third)
    assert list(states._states) == [first]
    states.clear()
    assert not states._states


def test_what_is_remembered_is_not_read_and_what_is_read_is_remembered(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    states = StateCache()
    before = states.get(run)
    agent.post(f"/runs/{run}/steps", json=step(1))
    assert states.get(run) is before

    now = states.read(run)
    assert now.head_seq == before.head_seq + 1
    assert states.get(run) is now
    agent.post(f"/runs/{run}/steps", json=step(2))
    _, locked = states.lock(run)
    assert states.get(run) is locked
    assert locked.head_seq == now.head_seq + 1


def test_a_run_that_is_nowhere_is_not_found(database: None) -> None:
    states = StateCache()
    asked: list[Any] = [states.get, states.read, states.lock]
    for ask in asked:
        for code in (str(uuid7()), "no code", ""):
            with pytest.raises(NotFound):
                ask(code)


def test_a_re_check_reads_the_heads_of_the_runs_it_is_asked_about(
    agent: httpx.Client,
) -> None:
    codes = [start_run(agent) for _ in range(3)]
    agent.post(f"/runs/{codes[1]}/steps", json=step(1))
    ids = [Run.objects.values_list("pk", flat=True).get(code=code) for code in codes]

    assert _get_heads(ids[:2]) == {ids[0]: 1, ids[1]: 2}
