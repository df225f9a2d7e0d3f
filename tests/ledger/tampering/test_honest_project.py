"""A busy honest project is whole, whatever was done in it by those who may."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from django.core.management import call_command

from ledger.management.commands import ledger_verify
from tests.ledger.tampering.editing import edit_rows
from tests.ledger.tampering.honest import Life
from tests.ledger.tampering.row_edits import EDITS
from tests.support.live import Live


@pytest.fixture
def life(live: Live, monkeypatch: pytest.MonkeyPatch) -> Iterator[Life]:
    life = Life(live)
    monkeypatch.setattr(ledger_verify, "list_project_ids", lambda: [life.project.pk])
    try:
        life.live_on()
        yield life
    finally:
        life.close()


def test_all_of_it_is_whole(life: Life, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        call_command("ledger_verify")
    except SystemExit:
        pytest.fail(capsys.readouterr().err)


def test_every_row_that_is_changed_past_the_server_is_named(
    life: Life, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    for what, (edit, words) in EDITS.items():
        with subtests.test(what=what), edit_rows(partial(edit, life)) as row:
            capsys.readouterr()
            with pytest.raises(SystemExit) as ended:
                call_command("ledger_verify")
            assert ended.value.code == 1
            assert words.format(life=life, row=row) in capsys.readouterr().err
    call_command("ledger_verify")
