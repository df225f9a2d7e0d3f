"""Runs and their steps: every gate of a step, every end of a run."""

from __future__ import annotations

from tests.golden.stage import Stage


def play(stage: Stage) -> None:
    stage.begin("01_steps", hour=1)
    run = stage.ask("robo", "POST /runs", {"task": "Fix the flaky login test"})["id"]
    stage.ask("robo", f"POST /runs/{run}/steps", {"number": 1, "tokens": 900, "tool_calls": 1})
    stage.ask("bob", f"GET /runs/{run}")
