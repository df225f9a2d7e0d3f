"""Runs are decided as if they shared nothing, and stored only if they do not."""

from __future__ import annotations

from threading import Event

import httpx
import pytest
from django.db import connection, transaction

from accounts.models import Agent
from ledger.models import Run
from ledger.writer import get_writer
from tests.gateway.calls.calls import command
from tests.support.builders import Robot, start_run, step
from tests.support.threads import Threads
from tests.support.waiting import is_lock_awaited, until

COUNT = """
INSERT INTO ledger_shareduse (scope, owner, period, tokens, tool_calls, cost_micros,
  tokens_extra, tool_calls_extra, cost_micros_extra,
  tokens_noticed, tool_calls_noticed, cost_micros_noticed)
VALUES ('run', %s, '', 0, 3, 0, 0, 0, 0, 0, 0, 0)
"""


def test_a_limit_that_an_agent_gets_meanwhile_holds_for_its_next_step(
    agent: httpx.Client, robo: Robot
) -> None:
    run = start_run(agent)
    first = agent.post(f"/runs/{run}/steps", json=step(1, tokens=600)).json()
    assert first["decision"] == "continue"
    Agent.objects.filter(pk=robo.principal.agent_id).update(tokens_limit=1_000)

    second = agent.post(f"/runs/{run}/steps", json=step(2, tokens=600)).json()

    assert second["decision"] == "stop"
    assert "limits" in {each["gate"] for each in second["findings"]}


def test_what_a_child_uses_is_known_to_its_parents_next_step(
    agent: httpx.Client,
) -> None:
    parent = start_run(agent, budget={"tokens": 1_000})
    assert agent.post(f"/runs/{parent}/steps", json=step(1, tokens=1)).is_success
    child = start_run(agent, parent_run=parent)
    assert agent.post(f"/runs/{child}/steps", json=step(1, tokens=990)).is_success

    answer = agent.post(f"/runs/{parent}/steps", json=step(2, tokens=20)).json()

    assert answer["decision"] == "stop"


def test_a_run_without_limits_is_not_read_for_long_after_it_was_lost(
    agent: httpx.Client, robo: Robot
) -> None:
    """Its agent has a limit no more: the next step is stored as most are."""
    run = start_run(agent)
    limits = Agent.objects.filter(pk=robo.principal.agent_id)
    sharing = get_writer()._committer._sharing
    limits.update(tokens_limit=1_000_000)
    assert agent.post(f"/runs/{run}/steps", json=step(1)).is_success
    assert run in sharing
    limits.update(tokens_limit=None)

    assert agent.post(f"/runs/{run}/steps", json=step(2)).is_success

    assert run not in sharing


def test_a_call_is_not_let_through_by_what_was_counted_before_its_project_was_free(
    agent: httpx.Client,
) -> None:
    """Somebody counts while the statement waits, which then sees it: none too many."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one lock for all.")
    run = Run.objects.get(code=start_run(agent, budget={"tool_calls": 3}))
    locked, asked = Event(), Event()

    def count_for_children() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM ledger_projecthead WHERE project_id = %s FOR UPDATE",
                [run.project_id],
            )
            locked.set()
            asked.wait(10)
            until(is_lock_awaited)
            cursor.execute(COUNT, [run.pk])

    with Threads(2) as threads:
        counted = threads.submit(count_for_children)
        assert locked.wait(10)
        answer = threads.submit(command, agent, str(run.code), "ls")
        asked.set()
        counted.result(timeout=60)
        assert answer.result(timeout=60)["decision"] == "block"
