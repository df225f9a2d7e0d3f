"""Somebody edits the rows beside the chain: both commands name the run and the entry."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from uuid import uuid4

import httpx
import pytest
import time_machine
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ledger.models import Run
from ledger.verification.row_checks import compare_runs
from tests.ledger.tampering.editing import edit_rows, get_seq, list_faults
from tests.ledger.tampering.edits import EDITS, RULING, change
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import (
    Person,
    pause_at_once,
    start_run,
    step,
)
from tests.support.people import rule as rule_on


def test_a_run_with_every_row_is_whole(run: Run, agent: httpx.Client) -> None:
    for command_name in ("ledger_verify", "replay"):
        call_command(command_name, run=str(run.code))
    assert agent.get(f"/runs/{run.code}/verify").json()["ok"] is True


def test_every_edit_is_named(
    run: Run, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    for what, (statement, entry_type, words) in EDITS.items():
        edit = partial(run_sql, statement.format(run=run.pk))
        with subtests.test(what=what), edit_rows(edit):
            verified = list_faults("ledger_verify", run, capsys)
            assert words in verified
            seqs = run.entries.filter(type=entry_type).values_list("seq", flat=True)
            lines = [line for line in verified.splitlines() if words in line]
            assert any(f" seq {seq}: " in line for seq in seqs for line in lines), lines
            list_faults("replay", run, capsys)


def test_equal_comments_of_one_moment_are_counted(
    agent: httpx.Client, reviewer: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clock that was set back: what is written meanwhile has the time before it."""
    code = start_run(agent)
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        agent.post(f"/runs/{code}/steps", json=step(1))
    review = pause_at_once(agent, code, number=2)
    for _ in range(2):
        said = reviewer.post(f"/reviews/{review}/comments", json={"text": "Why?"})
        assert said.status_code == 201, said.text
    run = Run.objects.get(code=code)
    moments = run.entries.filter(type="review.commented").values_list("at", flat=True)
    assert len(moments) == 2
    assert len(set(moments)) == 1
    for command_name in ("ledger_verify", "replay"):
        call_command(command_name, run=code)

    one = "(SELECT min(c.id) FROM reviews_comment c JOIN reviews_review r "
    one += f"ON r.id = c.review_id WHERE r.run_id = {run.pk})"
    with edit_rows(lambda: run_sql(f"DELETE FROM reviews_comment WHERE id = {one}")):
        assert "is missing" in list_faults("ledger_verify", run, capsys)
    again = (
        "INSERT INTO reviews_comment (code, review_id, author_id, text, at) "
        f"SELECT '{uuid4().hex}', review_id, author_id, text, at "
        f"FROM reviews_comment WHERE id = {one}"
    )
    with edit_rows(lambda: run_sql(again)):
        assert "is stored 3 times" in list_faults("ledger_verify", run, capsys)


def test_a_ruling_that_nobody_made_is_named(
    run: Run, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    added = (
        "INSERT INTO reviews_ruling (code, review_id, action, note, by_id, at) "
        "SELECT review.code, review.id, 'approve', '', %s, review.opened_at "
        "FROM reviews_review review WHERE run_id = %s AND state = 'open'"
    )
    with edit_rows(lambda: run_sql(added, [bob.user.pk, run.pk])):
        assert "no entry tells of it" in list_faults("ledger_verify", run, capsys)
        list_faults("replay", run, capsys)


def test_the_api_says_so_too(
    agent: httpx.Client, reviewer: httpx.Client, run: Run
) -> None:
    # Committed, for the server looks by itself: the column is put back afterwards.
    ruled = get_seq(run, "review.ruled")
    edit = change("ruling", "note = %s", RULING.format(run=run.pk))
    with without_triggers("reviews_ruling"):
        run_sql(edit, ["x"])
        body = agent.get(f"/runs/{run.code}/verify").json()
        run_sql(edit, ["Go on"])

    assert (body["ok"], body["first_bad_seq"]) == (False, ruled)
    assert "has note" in body["reason"]
    assert agent.get(f"/runs/{run.code}/verify").json()["ok"] is True


def test_many_runs_are_compared_by_few_queries(
    agent: httpx.Client, reviewer: httpx.Client, run: Run
) -> None:
    more = [start_run(agent) for _ in range(3)]
    for code in more:
        rule_on(reviewer, pause_at_once(agent, code), "approve")
    runs = [run, *Run.objects.filter(code__in=more)]
    with CaptureQueriesContext(connection) as one:
        assert compare_runs([run]) == []
    with CaptureQueriesContext(connection) as many:
        assert compare_runs(runs) == []
    assert len(many) == len(one)
