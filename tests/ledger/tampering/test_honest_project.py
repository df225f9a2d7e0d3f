"""A busy honest project is whole, whatever was done in it by those who may."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.management import call_command

from ledger.management.commands import ledger_verify
from tests.ledger.tampering.honest import Life
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
