"""What a change tells without a look at the database is what a look would find."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Event
from typing import Any

import httpx
import pytest
from django.db import connection, transaction

from accounts.models import AgentKey
from ledger.models import Run
from ledger.writer import Committed, get_writer
from ledger.writer.state_cache import StateCache
from reviews.rulings.decision_query import get_decision_state
from tests.gateway.calls.calls import command
from tests.support.builders import Robot, pause_at_once, start_run
from tests.support.people import rule
from tests.support.rows import each_row
from tests.support.threads import Threads
from tests.support.waiting import is_lock_awaited, park, until


@pytest.fixture
def commits() -> Iterator[list[Committed]]:
    heard: list[Committed] = []
    undo = get_writer().listen(heard.append)
    yield heard
    undo()


def open_call_review(agent: httpx.Client, run: str) -> str:
    code: str = command(agent, run)["review"]["id"]
    return code


def open_pause(agent: httpx.Client, run: str) -> str:
    return pause_at_once(agent, run)


RULINGS = [
    (open_pause, "approve", {"note": "é \u2028"}),
    (open_pause, "abort", {}),
    (open_call_review, "approve", {}),
    (open_call_review, "deny", {"note": "No."}),
    (open_call_review, "amend", {"amended": {"command": "rm -ri build"}}),
]


@each_row("row", RULINGS)
def test_a_ruling_tells_what_is_then_stored(
    agent: httpx.Client, reviewer: httpx.Client, commits: list[Committed], row: Any
) -> None:
    opened, action, more = row
    run = start_run(agent)
    review = opened(agent, run)
    commits.clear()

    answer = rule(reviewer, review, action, **more)

    (known,) = [each.waiter_answer for each in commits if each.waited_run_ids]
    assert known is not None
    assert known.subject == review
    run_id = Run.objects.values_list("pk", flat=True).get(code=run)
    told = (known.body, known.head_seq, known.has_notes)
    assert told == get_decision_state(run_id, review)
    shown = reviewer.get(f"/reviews/{review}").json()
    for detail in (
        "history",
        "approved_by",
        "amended",
        "amended_findings",
        "allowance",
    ):
        del shown[detail]
    assert answer == shown


def test_a_key_that_was_revoked_hears_of_no_ruling(
    agent: httpx.Client, reviewer: httpx.Client, robo: Robot
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    parked = park(agent, run, f"&review={review}")
    now = datetime.now(UTC)
    AgentKey.objects.filter(pk=robo.principal.key_id).update(revoked_at=now)

    rule(reviewer, review, "approve")

    assert parked.result(timeout=60).status_code == 401


def test_a_run_that_moves_while_its_project_is_awaited_is_read_as_it_then_is(
    agent: httpx.Client,
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one lock for all.")
    run = Run.objects.get(code=start_run(agent))
    locked, asked_for = Event(), Event()

    def move() -> datetime:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM ledger_projecthead WHERE project_id = %s FOR UPDATE",
                [run.project_id],
            )
            locked.set()
            asked_for.wait(10)
            until(is_lock_awaited)
            cursor.execute(
                "UPDATE ledger_projecthead SET position = 900 WHERE project_id = %s",
                [run.project_id],
            )
            cursor.execute(
                "UPDATE ledger_run SET head_seq = 700 WHERE id = %s RETURNING "
                "clock_timestamp()",
                [run.pk],
            )
            ((at,),) = cursor.fetchall()
            moved: datetime = at
            return moved

    with Threads(1) as threads:
        moved = threads.submit(move)
        locked.wait(10)
        with transaction.atomic():
            asked_for.set()
            held, state = StateCache().lock(str(run.code))
            transaction.set_rollback(True)
        assert (held.position, state.head_seq) == (900, 700)
        assert held.at > moved.result(timeout=60)
    Run.objects.filter(pk=run.pk).update(head_seq=run.head_seq)
