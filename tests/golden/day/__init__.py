"""The day, chapter by chapter."""

from __future__ import annotations

from tests.golden.day import (
    administration,
    calls,
    checks,
    coding_agents,
    console,
    evaluations,
    history,
    lists,
    loop,
    oversight,
    plans,
    policies,
    reviews,
    steps,
    webhooks,
)
from tests.golden.stage import Stage

CHAPTERS = (
    administration.play,
    policies.play,
    webhooks.play,
    evaluations.play,
    steps.play,
    calls.play,
    reviews.play,
    plans.play,
    checks.play,
    oversight.play,
    coding_agents.play,
    loop.play,
    history.play,
    console.play,
    webhooks.deliver_all,
    lists.play,
)


def play_day(stage: Stage) -> None:
    for play in CHAPTERS:
        play(stage)
