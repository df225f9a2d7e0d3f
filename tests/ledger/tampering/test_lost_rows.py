"""Somebody deletes a row that others lean on: what then hangs in the air is named.

No run may fall out of what is checked because a row beside it is gone. The rows are
deleted with the foreign keys still to be checked, looked at, and put back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from django.core.management import call_command
from django.db import connection, transaction

from accounts.models import Project
from common.append_only import release_statements
from ledger.models import Run
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import start_run, step


@pytest.fixture
def run(agent: httpx.Client) -> Run:
    code = start_run(agent)
    agent.post(f"/runs/{code}/steps", json=step(1))
    return Run.objects.get(code=code)


@contextmanager
def delete_row(table: str, where: str) -> Iterator[None]:
    with transaction.atomic():
        assert run_sql(f"DELETE FROM {table} WHERE {where}") == 1
        yield
        transaction.set_rollback(True)


def list_faults(
    command: str, capsys: pytest.CaptureFixture[str], *, run: Run | None = None
) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command(command, run=None if run is None else str(run.code))
    assert ended.value.code == 1
    return capsys.readouterr().err


@pytest.mark.usefixtures("few_runs")
def test_entries_whose_run_is_gone_are_named(
    run: Run, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    with delete_row("ledger_run", f"id = {run.pk}"):
        shown = list_faults("ledger_verify", capsys)
    assert f"MISSING project {project.slug}: the run of 2 entries is gone" in shown


@pytest.mark.parametrize("name", ["agent", "project"])
def test_a_run_that_lost_a_row_is_still_checked(
    run: Run, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with delete_row(f"accounts_{name}", f"id = {getattr(run, name).pk}"):
        shown = list_faults("ledger_verify", capsys, run=run)
        assert f"BROKEN run {run.code} seq 2: the run's {name} is gone" in shown
        if name == "agent":
            assert f"run {run.code} " in list_faults("replay", capsys, run=run)


def test_a_run_whose_policy_is_gone_is_still_checked(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "guidance_policyversion"
    with transaction.atomic():
        for statement in release_statements(table, connection.vendor):
            run_sql(statement)
        with delete_row(table, f"id = {run.policy_id}"):
            shown = list_faults("ledger_verify", capsys, run=run)
            assert f"BROKEN run {run.code} seq 2: the run's policy is gone" in shown
            assert f"run {run.code} " in list_faults("replay", capsys, run=run)
        transaction.set_rollback(True)


@pytest.mark.usefixtures("few_runs")
def test_a_project_without_its_last_position_is_named(
    run: Run, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    with delete_row("ledger_projecthead", f"project_id = {run.project_id}"):
        shown = list_faults("ledger_verify", capsys)
    told = f"MISSING project {project.slug}: 0 positions were handed out, 2 entries"
    assert told in shown


def test_another_hash_of_a_policy_is_named(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with transaction.atomic():
        with without_triggers("guidance_policyversion"):
            forged = "UPDATE guidance_policyversion SET hash = 'sha256:0' WHERE id = %s"
            assert run_sql(forged, [run.policy_id]) == 1
        assert "the run's policy" in list_faults("replay", capsys, run=run)
        transaction.set_rollback(True)
