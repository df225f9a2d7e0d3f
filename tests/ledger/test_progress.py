"""Long commands show how far they came, to people and not to pipes."""

from __future__ import annotations

import io

import pytest

from ledger.management.progress import ProgressBar

pytestmark = pytest.mark.once("nothing of it is in a database")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_far_it_came_and_then_a_clean_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ledger.management.progress.EVERY_S", 0)
    screen = Terminal()
    bar = ProgressBar(screen, total=4_000, what="entries")
    bar.show(1_000)
    assert (
        screen.getvalue()
        == "\r[#######                       ]  25%  1,000 of 4,000 entries"
    )
    bar.show(5_000)
    assert "] 100%  5,000 of 4,000" in screen.getvalue()
    bar.clear()
    assert screen.getvalue().endswith("\r\x1b[2K")


def test_it_is_drawn_only_so_often() -> None:
    screen = Terminal()
    bar = ProgressBar(screen, total=10, what="entries")
    for done in range(10):
        bar.show(done)
    assert screen.getvalue().count("\r") == 1


def test_a_pipe_gets_nothing() -> None:
    pipe = io.StringIO()
    bar = ProgressBar(pipe, total=0, what="entries")
    bar.show(1)
    bar.clear()
    assert pipe.getvalue() == ""
