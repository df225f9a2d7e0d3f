"""How long runs were running, counted from what stands in their entries."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import httpx
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from gateway.running_time import count_running_time
from ledger.models import Entry, Run
from ledger.statistics.counting import count_project
from ledger.statistics.recount import list_differences
from ledger.statistics.registry import CountedEntry
from ledger.statistics.selectors import read_totals, read_totals_by
from tests.gateway.calls.calls import command
from tests.ledger.statistics.test_plans import WHOLE, explain
from tests.ledger.statistics.work import scope_of
from tests.reviews.statistics.test_attention import rebuild_in_slices
from tests.support.builders import pause_at_once, start_run, step
from tests.support.people import rule

WAITED = 0.2
ENTRIES = 5_000


def list_readings(run: str) -> list[int]:
    """What the clock said at each step and call of a run, in order."""
    entries = Entry.objects.filter(
        run__code=run, type__in=("step.judged", "call.judged")
    )
    return [json.loads(each.payload)["running_ms"] for each in entries.order_by("seq")]


def test_only_the_time_in_which_a_run_was_running_counts(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    busy, other = start_run(agent), start_run(agent)
    command(agent, busy, "ls")
    review = pause_at_once(agent, busy)
    time.sleep(WAITED)
    rule(reviewer, review, "approve")
    agent.post(f"/runs/{busy}/steps", json=step(2))
    command(agent, busy, "ls -l")
    agent.post(f"/runs/{other}/steps", json=step(1))
    count_project(project_id=project.pk)

    readings = list_readings(busy)
    assert len(readings) == 4
    began = Run.objects.get(code=busy).created_at
    last = Entry.objects.filter(run__code=busy, type="call.judged").latest("seq").at
    passed_ms = (last - began).total_seconds() * 1000
    assert readings[-1] <= passed_ms - WAITED * 1000 + 1
    totals = read_totals(scope=scope_of(project))
    assert totals.running_ms == readings[-1] + list_readings(other)[-1]
    by_agent = read_totals_by(scope=scope_of(project), by="agent")
    assert by_agent["robo"].running_ms == totals.running_ms
    assert list_differences(project_id=project.pk) == []
    for size in (1, 3):
        rebuild_in_slices(project, size=size)
        assert read_totals(scope=scope_of(project)) == totals


@pytest.fixture
def worked(agent: httpx.Client) -> Iterator[str]:
    """A run with a step; whatever is done to its entries is taken back."""
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    with transaction.atomic():
        yield run
        transaction.set_rollback(True)


def test_what_was_tampered_with_is_passed_over(worked: str) -> None:
    """Whether or not it is in the slice that is counted."""
    (known,) = list_readings(worked)
    entries = [
        add_entry(worked, text)
        for text in ("{", "[7]", json.dumps({"running_ms": known + 5_000}))
    ]

    (added,) = count_running_time(entries[-1:])
    assert added.totals == {"running_ms": 5_000}
    assert list(count_running_time(entries[1:])) == [added]


def test_the_reading_before_is_found_by_the_run_and_not_by_all_entries(
    worked: str,
) -> None:
    """However long the run, and however much there is beside it."""
    last = add_entry(worked, '{"running_ms": 9000}')
    copy_entry(last, times=ENTRIES)
    newest = add_entry(worked, '{"running_ms": 9500}')
    with CaptureQueriesContext(connection) as queries:
        (added,) = count_running_time([newest])
    assert added.totals == {"running_ms": 500}
    assert len(queries) == 2
    for query in queries.captured_queries:
        plan = explain(query["sql"])
        assert not WHOLE.search(plan), (query["sql"], plan)


def copy_entry(entry: CountedEntry, *, times: int) -> None:
    """So many behind it, in the same chain."""
    given = Entry.objects.get(pk=entry.id)
    Entry.objects.bulk_create(
        Entry(
            project_id=given.project_id,
            run_id=given.run_id,
            version=given.version,
            seq=given.seq + number,
            position=given.position + number,
            at=given.at,
            type=given.type,
            actor=given.actor,
            payload=given.payload,
            payload_sha256="",
            prev_hash=f"copy {number}",
            hash=f"copy {number + 1}",
        )
        for number in range(1, times + 1)
    )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE ledger_entry")


def test_an_entry_without_a_reading_adds_none(worked: str) -> None:
    assert list(count_running_time([add_entry(worked, '{"tool": "Bash"}')])) == []


def add_entry(run: str, text: str) -> CountedEntry:
    """A call with this payload behind the run's last entry, as it is counted."""
    last = Entry.objects.filter(run__code=run).latest("seq")
    newest = Entry.objects.filter(project_id=last.project_id).latest("position")
    row = Entry.objects.create(
        project_id=last.project_id,
        run_id=last.run_id,
        version=last.version,
        seq=last.seq + 1,
        position=newest.position + 1,
        at=last.at,
        type="call.judged",
        actor=last.actor,
        payload=text,
        payload_sha256="",
        prev_hash=f"{last.seq}",
        hash=f"{last.seq + 1}",
    )
    return CountedEntry(
        id=row.pk,
        position=row.position,
        run_id=row.run_id,
        at=row.at,
        type=row.type,
        actor=row.actor,
        payload={} if text == "{" else json.loads(text),
    )
