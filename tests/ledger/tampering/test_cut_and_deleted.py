"""Entries or whole runs are gone: what the chain can know of it is said."""

from __future__ import annotations

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project
from ledger.chain import Link, format_timestamp, hash_link, hash_payload
from ledger.models import Entry, Run
from tests.ledger.tampering.editing import edit_rows, list_faults
from tests.ledger.tampering.triggers import run_sql
from tests.support.builders import (
    start_run,
    step,
)


def cut_tail(run: Run) -> None:
    """T11: the last step and the head put back, as if it had never been."""
    last = run.entries.get(seq=run.head_seq)
    before = run.entries.get(seq=run.head_seq - 1)
    assert last.type == "step.judged"
    run_sql("DELETE FROM ledger_entry WHERE id = %s", [last.pk])
    head = [before.seq, before.hash, run.pk]
    run_sql("UPDATE ledger_run SET head_seq = %s, head_hash = %s WHERE id = %s", head)


def test_a_cut_tail_is_named(
    agent: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    code = start_run(agent)
    for number in (1, 2):
        agent.post(f"/runs/{code}/steps", json=step(number))
    run = Run.objects.get(code=code)
    with edit_rows(lambda: cut_tail(run)):
        assert "seq 2: the run's tokens_used is 2000" in list_faults(
            "ledger_verify", run, capsys
        )
        list_faults("replay", run, capsys)


def delete_run(run: Run) -> None:
    """T14: as if it had never been started."""
    run_sql("DELETE FROM ledger_entry WHERE run_id = %s", [run.pk])
    run_sql("DELETE FROM ledger_run WHERE id = %s", [run.pk])


def rechain(run: Run) -> None:
    """T12: another reason for the last entry, and its hash and the head with it."""
    entry = run.entries.get(seq=run.head_seq)
    text = entry.payload.replace("Fine", "Evil")
    assert text != entry.payload
    link = Link(
        version=entry.version,
        run=str(run.code),
        seq=entry.seq,
        at=format_timestamp(entry.at),
        type=entry.type,
        actor=entry.actor,
        payload_sha256=hash_payload(text),
        prev_hash=entry.prev_hash,
    )
    run_sql(
        "UPDATE ledger_entry SET payload = %s, payload_sha256 = %s, hash = %s "
        "WHERE id = %s",
        [text, hash_payload(text), hash_link(link), entry.pk],
    )
    row = "head_hash = %s, status_reason = 'Evil'"
    run_sql(f"UPDATE ledger_run SET {row} WHERE id = %s", [hash_link(link), run.pk])


@pytest.mark.usefixtures("few_runs")
def test_a_deleted_run_leaves_a_gap_in_its_project(
    agent: httpx.Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    start_run(agent)
    gone = Run.objects.get(code=start_run(agent))
    start_run(agent)
    with edit_rows(lambda: delete_run(gone)):
        with pytest.raises(SystemExit):
            call_command("ledger_verify")
        told = f"MISSING project {project.slug}: 3 positions were handed out, 2 entries"
        assert told in capsys.readouterr().err


def test_what_the_chain_cannot_know_is_not_claimed(agent: httpx.Client) -> None:
    """A run that is chained anew up to its head is whole: only a receipt tells."""
    code = start_run(agent)
    body = {"outcome": "completed", "summary": "Fine"}
    agent.post(f"/runs/{code}/finish", json=body)
    run = Run.objects.get(code=code)
    with edit_rows(lambda: rechain(run)):
        call_command("ledger_verify", run=code)
    assert Entry.objects.get(run=run, seq=run.head_seq).hash == run.head_hash


@pytest.mark.usefixtures("few_runs")
def test_an_entry_moved_behind_the_end_of_its_project_is_named(
    agent: httpx.Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """None is missing and none is out of order: only the last place tells."""
    start_run(agent)
    moved = Run.objects.get(code=start_run(agent))
    edit = f"UPDATE ledger_entry SET position = 9 WHERE run_id = {moved.pk}"
    with edit_rows(lambda: run_sql(edit)):
        with pytest.raises(SystemExit):
            call_command("ledger_verify")
        told = f"MISSING project {project.slug}: 2 positions were handed out, 2 entries"
        assert f"{told} are stored (from 1 to 9)" in capsys.readouterr().err
