"""Drafts over stored history: backtests, shadows, suggestions."""

from __future__ import annotations

from reviews.policies.shadow.running import refresh_shadows
from reviews.tasks import run_backtests
from tests.golden.day.administration import ABSENT
from tests.golden.day.policies import DEFAULT
from tests.golden.stage import Stage


def play(stage: Stage) -> None:
    stage.begin("13_history", hour=9)
    path = "/policies/default"
    strict = {**DEFAULT, "continue": {"max_uncertainty": 0.05, "max_rework_ratio": 0.2}}
    draft = stage.ask(
        "alice", f"POST {path}/versions", {"document": strict, "note": "Strict"}
    )
    version = {"version": draft["version"]}
    backtest = stage.ask("alice", f"POST {path}/backtest", version)["id"]
    stage.refuse("alice", f"POST {path}/backtest", {"version": 99}, status=404)
    stage.clock.pass_time()
    run_backtests()
    stage.ask("bob", f"GET /backtests/{backtest}")
    stage.ask("bob", f"GET /backtests/{backtest}/items")
    for part in ("", "/items"):
        stage.refuse("bob", f"GET /backtests/{ABSENT}{part}", status=404)
    cancelled = stage.ask("alice", f"POST {path}/backtest", version)["id"]
    stage.ask("alice", f"POST /backtests/{cancelled}/cancel")
    stage.refuse("alice", f"POST /backtests/{ABSENT}/cancel", status=404)
    shadow = stage.ask("alice", f"POST {path}/shadow", version)["id"]
    stage.refuse("alice", f"POST {path}/shadow", version, status=409)
    run = stage.start_run(task="Work under two policies")
    stage.step(run, 1, uncertainty=0.3)
    stage.step(run, 2)
    # The server does so every two seconds.
    refresh_shadows()
    stage.ask("bob", f"GET {path}/shadows")
    stage.refuse("bob", "GET /policies/absent/shadows", status=404)
    for part in ("", "/items"):
        stage.ask("bob", f"GET /shadows/{shadow}{part}")
        stage.refuse("bob", f"GET /shadows/{ABSENT}{part}", status=404)
    stage.ask("alice", f"POST /shadows/{shadow}/stop", {"note": "Enough"})
    stage.refuse("alice", f"POST /shadows/{ABSENT}/stop", {}, status=404)
    _suggest(stage, path)
    stage.kept |= {"backtest": backtest, "shadow": shadow}


def _suggest(stage: Stage, path: str) -> None:
    stage.ask("alice", f"POST {path}/suggestions", {})
    stage.refuse("bob", f"POST {path}/suggestions", {}, status=403)
    stage.clock.pass_time()
    run_backtests()
    stage.ask("bob", f"GET {path}/suggestions")
    stage.refuse("bob", "GET /policies/absent/suggestions", status=404)
    wanted = {"setting": "continue.max_uncertainty"}
    stage.refuse("bob", f"POST {path}/suggestions/draft", wanted, status=403)
