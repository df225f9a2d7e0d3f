"""Edits that are made with the triggers gone, looked at, and undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from common.append_only import KEYS
from ledger.models import Run
from tests.ledger.tampering.triggers import run_sql, without_triggers


@contextmanager
def edit_rows(edit: Callable[[], object]) -> Iterator[object]:
    """The edit is made without triggers, seen with them in place again, and undone."""
    with transaction.atomic():
        with ExitStack() as stack:
            for table in KEYS:
                stack.enter_context(without_triggers(table))
            touched = edit()
            assert touched != 0, "The edit touched nothing."
            if connection.vendor == "postgresql":
                run_sql("SET CONSTRAINTS ALL IMMEDIATE")
        yield touched
        transaction.set_rollback(True)


def get_seq(run: Run, kind: str, *, last: bool = False) -> int:
    found = list(run.entries.filter(type=kind).order_by("seq"))
    return found[-1 if last else 0].seq


def list_faults(command: str, run: Run, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command(command, run=str(run.code))
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert f"run {run.code} " in shown
    return shown
