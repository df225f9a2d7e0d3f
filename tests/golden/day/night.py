"""The night after: what nobody answered expires, and what is silent is abandoned."""

from __future__ import annotations

from loop.control.clock import run_cycle
from reviews.tasks import (
    abandon_runs,
    expire_reviews,
    release_reviews,
    stop_overdue_runs,
)
from tests.golden.stage import Stage
from webhooks.delivery.fanout import fan_out


def play(stage: Stage) -> None:
    for hour in (20.0, 28.0, 52.0):
        stage.begin("16_night", hour=hour)
        for task in (expire_reviews, release_reviews, stop_overdue_runs, abandon_runs):
            stage.clock.pass_time()
            task()
        run_cycle(stage.project.pk)
    while fan_out():
        pass
    stage.ask("alice", "GET /runs?status=abandoned&limit=2")
    stage.ask("alice", "GET /reviews?state=expired&limit=2")
