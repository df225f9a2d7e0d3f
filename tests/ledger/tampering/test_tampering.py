"""Somebody edits the ledger by hand: ledger_verify names the run and the entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from ledger.chain import Link, format_timestamp, hash_link, hash_payload
from ledger.models import Entry, Run
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import make_project, start_run, step

STEPS = 5


def six_entries(agent: httpx.Client) -> Run:
    """A run with its start and five steps."""
    code = start_run(agent)
    steps = [step(number) for number in range(1, STEPS + 1)]
    agent.post(f"/runs/{code}/steps/batch", json={"steps": steps})
    return Run.objects.get(code=code)


@pytest.fixture
def run(agent: httpx.Client) -> Run:
    return six_entries(agent)


def change(run: Run, entry: int, **columns: Any) -> None:
    names = ", ".join(f"{name} = %s" for name in columns)
    where = "WHERE run_id = %s AND seq = %s"
    values = [*columns.values(), run.pk, entry]
    assert run_sql(f"UPDATE ledger_entry SET {names} {where}", values) == 1


def get_entry(run: Run, seq: int) -> Entry:
    return run.entries.get(seq=seq)


def build_edited_payload(run: Run, seq: int) -> str:
    payload = json.loads(get_entry(run, seq).payload)
    payload["report"]["tokens"] = 1
    return json.dumps(payload, sort_keys=True, separators=(",", ":"))


def edit_payload(run: Run) -> int:
    change(run, 3, payload=build_edited_payload(run, 3))
    return 3


def edit_payload_and_its_hash(run: Run) -> int:
    text = build_edited_payload(run, 3)
    change(run, 3, payload=text, payload_sha256=hash_payload(text))
    return 3


def recompute(run: Run, seq: int, text: str) -> None:
    """All that a careful forger can do to one entry."""
    entry = get_entry(run, seq)
    link = Link(
        version=entry.version,
        run=str(run.code),
        seq=seq,
        at=format_timestamp(entry.at),
        type=entry.type,
        actor=entry.actor,
        payload_sha256=hash_payload(text),
        prev_hash=entry.prev_hash,
    )
    change(
        run,
        seq,
        payload=text,
        payload_sha256=hash_payload(text),
        hash=hash_link(link),
    )


def recompute_in_the_middle(run: Run) -> int:
    recompute(run, 3, build_edited_payload(run, 3))
    return 4  # the next one does not follow any more


def recompute_the_last(run: Run) -> int:
    recompute(run, 6, build_edited_payload(run, 6))
    return 7  # the run's head knows another hash


def recompute_into_nonsense(run: Run) -> int:
    recompute(run, 6, "[]")
    return 6


def recompute_into_no_json(run: Run) -> int:
    recompute(run, 6, "{")
    return 6


def delete(run: Run, seq: int) -> int:
    values = [run.pk, seq]
    assert run_sql("DELETE FROM ledger_entry WHERE run_id = %s AND seq = %s", values)
    return seq


def delete_everything(run: Run) -> int:
    assert run_sql("DELETE FROM ledger_entry WHERE run_id = %s", [run.pk])
    return 1


def swap(run: Run) -> int:
    change(run, 2, seq=1000)
    change(run, 3, seq=2)
    change(run, 1000, seq=3)
    return 2


def append(run: Run) -> int:
    """An entry behind the head, as good as a forger can make it."""
    last = get_entry(run, 6)
    link = Link(
        version=last.version,
        run=str(run.code),
        seq=7,
        at=format_timestamp(last.at),
        type="run.finished",
        actor=last.actor,
        payload_sha256=hash_payload("{}"),
        prev_hash=last.hash,
    )
    Entry.objects.create(
        project_id=run.project_id,
        run=run,
        version=last.version,
        seq=7,
        position=last.position + 1_000_000,
        at=last.at,
        type="run.finished",
        actor=last.actor,
        payload="{}",
        payload_sha256=hash_payload("{}"),
        prev_hash=last.hash,
        hash=hash_link(link),
    )
    return 7


def move_to_another_project(run: Run) -> int:
    change(run, 4, project_id=make_project().pk)
    return 4


def column(entry: int, **columns: Any) -> Callable[[Run], int]:
    def tamper(run: Run) -> int:
        change(run, entry, **columns)
        return entry

    return tamper


ATTACKS: dict[str, Callable[[Run], int]] = {
    "the payload": edit_payload,
    "the payload and its hash": edit_payload_and_its_hash,
    "all of an entry": recompute_in_the_middle,
    "all of the last entry": recompute_the_last,
    "the last entry into nonsense": recompute_into_nonsense,
    "the last entry into no JSON": recompute_into_no_json,
    "the first entry deleted": lambda run: delete(run, 1),
    "a middle entry deleted": lambda run: delete(run, 3),
    "the last entry deleted": lambda run: delete(run, 6),
    "every entry deleted": delete_everything,
    "two entries swapped": swap,
    "an entry added": append,
    "the type": column(2, type="run.finished"),
    "the actor": column(2, actor="user:somebody"),
    "the time": column(2, at="2020-01-01 00:00:00"),
    "the step's number": column(4, step_number=1000),
    "the step's number left out": column(4, step_number=None),
    "the decision": column(4, decision="stop"),
    "the link back": column(4, prev_hash="f" * 64),
    "the hash": column(4, hash="f" * 64),
    "the format": column(4, version=1),
    "an unknown format": column(4, version=3),
    "the number": column(6, seq=9),
    "the position": column(4, position=-1),
    "the project": move_to_another_project,
}


def test_a_change_by_hand_is_found_and_named(
    agent: httpx.Client,
    capsys: pytest.CaptureFixture[str],
    subtests: pytest.Subtests,
) -> None:
    runs = {what: six_entries(agent) for what in ATTACKS}
    for run in runs.values():
        call_command("ledger_verify", run=str(run.code))
    with without_triggers("ledger_entry"):
        bad = {what: attack(runs[what]) for what, attack in ATTACKS.items()}

    for what, run in runs.items():
        with subtests.test(what=what):
            capsys.readouterr()
            with pytest.raises(SystemExit) as ended:
                call_command("ledger_verify", run=str(run.code))

            assert ended.value.code == 1
            words = f"BROKEN run {run.code} seq {bad[what]}:"
            assert words in capsys.readouterr().err
            body = agent.get(f"/runs/{run.code}/verify").json()
            assert body["ok"] is False
            assert body["first_bad_seq"] == bad[what]
            assert body["head"]["seq"] == 6


def test_a_head_set_back_by_hand_is_found(run: Run) -> None:
    third = get_entry(run, 3)
    Run.objects.filter(pk=run.pk).update(head_seq=3, head_hash=third.hash)

    with pytest.raises(SystemExit):
        call_command("ledger_verify", run=str(run.code))


def test_one_broken_run_among_many_is_the_one_that_is_named(
    run: Run, agent: httpx.Client, few_runs: None, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = start_run(agent)
    with without_triggers("ledger_entry"):
        edit_payload(run)

    with pytest.raises(SystemExit) as ended:
        call_command("ledger_verify")

    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert str(run.code) in shown
    assert whole not in shown


def test_a_time_that_is_no_time_is_found(run: Run) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no column that could hold it.")
    with without_triggers("ledger_entry"):
        change(run, 3, at="yesterday")

    with pytest.raises(SystemExit):
        call_command("ledger_verify", run=str(run.code))


def test_a_run_that_is_nowhere_is_said_to_be_so(database: None) -> None:
    for command in ("ledger_verify", "replay"):
        with pytest.raises(CommandError, match="There is no run"):
            call_command(command, run="01900000-0000-7000-8000-000000000000")
