"""The day, chapter by chapter."""

from __future__ import annotations

from tests.golden.day import steps
from tests.golden.stage import Stage


def play_day(stage: Stage) -> None:
    steps.play(stage)
