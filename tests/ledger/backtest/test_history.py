"""Stored history is read a page at a time, all of it, and nothing of others."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import httpx
import pytest
from django.db import OperationalError, connection

from accounts.models import Project
from guidance.core.policy import load_policy
from ledger.backtest import engine, history
from ledger.backtest.engine import judge_history
from ledger.backtest.history import list_entry_pages, list_run_batches, select_runs
from ledger.backtest.judges import Unknown
from ledger.models import Run
from tests.ledger.tampering.editing import edit_rows
from tests.ledger.tampering.triggers import run_sql
from tests.support.builders import start_run, step

TICK = timedelta(microseconds=1)


@pytest.fixture
def runs(agent: httpx.Client, project: Project) -> list[Run]:
    """Of 2, 3, 4 and 1 entries."""
    codes = [start_run(agent) for _ in range(4)]
    for code, steps in zip(codes, (1, 2, 3, 0), strict=True):
        for number in range(1, steps + 1):
            agent.post(f"/runs/{code}/steps", json=step(number))
    return list(Run.objects.filter(project=project).order_by("pk"))


def list_sizes(project: Project) -> list[list[int]]:
    batches = list_run_batches(Run.objects.filter(project=project))
    return [[run.head_seq for run in batch] for batch in batches]


def test_runs_come_newest_first_in_batches_of_a_page(
    runs: list[Run], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = {
        1: [[1], [4], [3], [2]],
        4: [[1], [4], [3], [2]],
        5: [[1, 4], [3, 2]],
        8: [[1, 4, 3], [2]],
        10: [[1, 4, 3, 2]],
    }
    for page, expected in cases.items():
        monkeypatch.setattr(history, "PAGE", page)
        assert list_sizes(project) == expected


@pytest.mark.parametrize("page", [1, 2, 3, 100])
def test_every_entry_is_read_once_and_in_order(
    runs: list[Run], page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE", page)
    read: dict[int, list[int]] = {}
    for batch in list_run_batches(Run.objects.filter(pk__in=[r.pk for r in runs])):
        for part in list_entry_pages(batch, until=None):
            assert part
            for run_id, entries in part.items():
                read.setdefault(run_id, []).extend(each.seq for each in entries)
    assert read == {run.pk: list(range(1, run.head_seq + 1)) for run in runs}


def test_only_runs_that_may_have_decisions_in_the_time_are_read(
    runs: list[Run], project: Project
) -> None:
    mine = Run.objects.filter(project=project)
    run = runs[1]

    def is_read(**more: object) -> bool:
        given = {"since": None, "until": None} | more
        return select_runs(mine, **given).filter(pk=run.pk).exists()  # type: ignore[arg-type]

    assert is_read()
    assert is_read(since=run.updated_at)
    assert not is_read(since=run.updated_at + TICK)
    assert is_read(until=run.created_at)
    assert not is_read(until=run.created_at - TICK)


@pytest.mark.parametrize("page", [1, 2, 100])
def test_the_time_that_is_judged_includes_both_its_ends(
    runs: list[Run], page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the page, and with another run beside it."""
    monkeypatch.setattr(history, "PAGE", page)
    run = runs[2]
    moments = dict(run.entries.values_list("seq", "at"))

    def judged(**time: object) -> list[int]:
        pages = judge_history(
            Run.objects.filter(pk__in=[run.pk, runs[1].pk]),
            draft=load_policy({}),
            **time,  # type: ignore[arg-type]
        )
        found = [each for page in pages for each in page.judged]
        return [each.seq for each in found if each.run_id == run.pk]

    assert judged() == [2, 3, 4]
    assert judged(since=moments[3]) == [3, 4]
    assert judged(since=moments[3] + TICK) == [4]
    assert judged(until=moments[3]) == [2, 3]
    assert judged(until=moments[3] - TICK) == [2]
    assert judged(since=moments[3], until=moments[3]) == [3]


def test_how_much_was_read_is_told_page_by_page(
    runs: list[Run], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE", 3)
    mine = Run.objects.filter(project=project)
    pages = judge_history(mine, draft=load_policy({}))
    assert [page.entries for page in pages] == [1, 3, 1, 3, 2]


def test_a_policy_is_the_one_of_the_project_that_stands_on_the_decision(
    runs: list[Run],
) -> None:
    policies = engine._Policies(load_policy({}))
    run = runs[0]
    stamp = {
        "name": run.policy.name,
        "version": run.policy.version,
        "hash": run.policy.hash,
    }
    pair = policies.find_pair(run.project_id, stamp)
    assert pair is not None
    assert policies.find_pair(run.project_id, stamp) is pair
    assert policies.find_pair(run.project_id + 10**6, stamp) is None
    for wrong in ({"name": "no"}, {"version": 99}, {"hash": "sha256:0"}):
        assert policies.find_pair(run.project_id, stamp | wrong) is None


def test_an_entry_that_cannot_be_read_hides_no_other(runs: list[Run]) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL holds no text that is none.")
    run = runs[2]
    edit = "UPDATE ledger_entry SET payload = CAST(x'ff' AS text) WHERE run_id = %s"
    with edit_rows(partial(run_sql, f"{edit} AND seq = 2", [run.pk])):
        for batch in ([run], [run, runs[1]]):
            pages = list(list_entry_pages(batch, until=None))
            read = [each for page in pages for each in page[run.pk]]
            assert [each.seq for each in read] == [1, 2, 3, 4]
            assert [each.payload is None for each in read] == [
                *(False, True, False, False)
            ]
            assert [each.type for each in read][1:] == ["step.judged"] * 3
        judged = judge_history(
            Run.objects.filter(pk=run.pk), draft=load_policy({"budget": {"tokens": 1}})
        )
        found = [each for page in judged for each in page.judged]
        assert [each.outcome for each in found] == [Unknown(engine.UNREADABLE)] * 3


def test_a_database_that_goes_away_is_no_fault_of_an_entry(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> object:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(history, "StoredEntry", fail)
    with pytest.raises(OperationalError):
        list(list_entry_pages(runs, until=None))
