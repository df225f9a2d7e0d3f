"""How far a long command came is drawn for who looks at it, and for nobody else."""

from __future__ import annotations

import io
from types import SimpleNamespace

import httpx
import pytest

from ledger.management import progress
from ledger.management.progress import ProgressBar
from ledger.management.selection import count_selected_entries
from ledger.models import Run
from tests.support.builders import start_run, step


class Terminal(io.StringIO):
    def __init__(self, *, looked_at: bool) -> None:
        super().__init__()
        self.looked_at = looked_at

    def isatty(self) -> bool:
        return self.looked_at

    def take(self) -> str:
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    made = SimpleNamespace(now=100.0)
    fake = SimpleNamespace(monotonic=lambda: made.now)
    monkeypatch.setattr(progress, "time", fake)
    return made


def test_a_terminal_shows_how_far_it_came(clock: SimpleNamespace) -> None:
    terminal = Terminal(looked_at=True)
    bar = ProgressBar(terminal, total=2000, what="entries")
    bar.show(500)
    assert terminal.take() == (f"\r[{'#' * 7}{' ' * 23}]  25%  500 of 2,000 entries")
    bar.show(600)  # too soon to be drawn anew
    assert terminal.take() == ""
    clock.now += 0.2
    bar.show(2500)
    assert terminal.take() == f"\r[{'#' * 30}] 100%  2,500 of 2,000 entries"
    bar.clear()
    assert terminal.take() == "\r\x1b[2K"

    ProgressBar(terminal, total=0, what="runs").show(0)
    assert "100%  0 of 0 runs" in terminal.take()


def test_a_log_stays_clean(clock: SimpleNamespace) -> None:
    log = Terminal(looked_at=False)
    bar = ProgressBar(log, total=10, what="entries")
    bar.show(5)
    bar.clear()
    assert log.take() == ""


def test_what_there_is_to_read_is_counted(agent: httpx.Client) -> None:
    run = start_run(agent)
    start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    assert count_selected_entries(run) == 2
    every = sum(Run.objects.values_list("head_seq", flat=True))
    assert count_selected_entries(None) == every
    for nowhere in ("no code", "01900000-0000-7000-8000-000000000000"):
        assert count_selected_entries(nowhere) == 0
