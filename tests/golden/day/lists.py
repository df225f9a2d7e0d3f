"""Lists and statistics at the end of the day, after every task has run."""

from __future__ import annotations

from ledger.tasks import (
    keep_figures_and_words,
    start_verifications,
    verify_ledgers,
)
from reviews.tasks import (
    abandon_runs,
    expire_reviews,
    move_deadlines,
    move_runs,
    release_reviews,
    stop_overdue_runs,
)
from tests.golden.stage import Stage

READ = (
    "/runs?limit=4",
    "/runs?status=paused&sort=-steps",
    "/runs.csv",
    "/rulings?limit=4",
    "/rulings.csv",
    "/stats/gates",
    "/stats/reviewers",
    "/stats/reviews",
    "/stats/rules",
    "/stats/spend?by=agent",
    "/stats/spend.csv?by=model",
)


def play(stage: Stage) -> None:
    stage.begin("15_lists", hour=12)
    for task in (
        expire_reviews,
        release_reviews,
        move_deadlines,
        abandon_runs,
        stop_overdue_runs,
        move_runs,
        start_verifications,
        verify_ledgers,
        keep_figures_and_words,
    ):
        stage.clock.pass_time()
        task()
    for path in READ:
        stage.ask("alice", f"GET {path}")
    own = ("/me/profile", "/me/tokens", "/policies")
    for path in (*READ, *own, "/loop/incidents"):
        stage.refuse("nobody", f"GET {path.partition('?')[0]}", status=401)
