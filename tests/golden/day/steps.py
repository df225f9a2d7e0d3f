"""Runs and their steps: every gate of a step, every end of a run."""

from __future__ import annotations

from typing import Any

from tests.golden.day.administration import ABSENT
from tests.golden.stage import Stage


def play(stage: Stage) -> None:
    stage.begin("05_steps", hour=2.5)
    _work_quietly(stage)
    _meet_every_gate(stage)
    _end_runs(stage)
    _read_runs(stage)


def _work_quietly(stage: Stage) -> None:
    labels = {"repo": "shop", "host": "build-01"}
    more: dict[str, Any] = {
        "intent": "bug-fix",
        "model": "demo-large",
        "labels": labels,
    }
    stage.refuse("robo", "POST /runs", {"task": ""})
    stage.refuse("bob", "POST /runs", {"task": "Mine"}, status=403)
    run = stage.kept["quiet"] = stage.start_run(budget={"tokens": 500_000}, **more)
    stage.step(run, 1, cost_usd="0.0121", duration_ms=4000, summary="Read the test")
    stage.step(run, 2, coherence=0.95, uncertainty=0.1, confidences=[0.9, 1.0])
    same = {"number": 2, "tokens": 7, "tool_calls": 1}
    stage.refuse("robo", f"POST /runs/{run}/steps", same, status=409)
    stage.refuse("robo", f"POST /runs/{run}/steps", {"number": 3})
    many = [{"number": n, "tokens": 500 * n, "tool_calls": 0} for n in (3, 4)]
    stage.ask("robo", f"POST /runs/{run}/steps/batch", {"steps": many})
    stage.refuse("robo", f"POST /runs/{run}/steps/batch", {"steps": []})
    path = f"/runs/{run}/checkpoints"
    stage.refuse("robo", f"GET {path}/latest", status=404)
    state = {"step": 4, "label": "green", "state": {"branch": "fix-login"}}
    stage.ask("robo", f"POST {path}", state)
    stage.refuse("robo", f"POST {path}", {"step": -1})
    stage.ask("robo", f"GET {path}/latest")
    rule = {"rule": "R1", "severity": "low", "description": "A print was left"}
    stage.ask("robo", f"POST /runs/{run}/violations", rule)
    stage.refuse("robo", f"POST /runs/{run}/violations", {"rule": "R1"})
    stage.ask("robo", f"GET /runs/{run}/decision")
    stage.refuse("robo", f"GET /runs/{ABSENT}/decision", status=404)


def _meet_every_gate(stage: Stage) -> None:
    run = stage.start_run(task="Rework the importer")
    for number in range(1, 6):
        stage.step(run, number, rework=True)
    stage.kept["reworked"] = run
    stage.kept["reworked_review"] = _open_review(stage, run)
    run = stage.kept["uncertain"] = stage.start_run(task="Guess the schema")
    stage.step(run, 1, uncertainty=0.95)
    run = stage.start_run(task="Go round in circles")
    for number in range(1, 4):
        stage.step(run, number, signature="the-same-again")
    run = stage.start_run(task="Grow without end")
    for number in range(1, 10):
        stage.step(run, number, tokens=500 * 2**number)
    run = stage.start_run(task="Use up what there is", budget={"tokens": 1500})
    stage.step(run, 1)
    stage.step(run, 2)
    run = stage.start_run(task="Lose the thread")
    stage.step(run, 1, coherence=0.1)
    stage.kept["stopped"] = run
    run = stage.start_run("rita", task="Never save anything")
    for number in range(1, 6):
        stage.step(run, number, who="rita")
    # Of the policy `small`, which allows little in a day.
    run = stage.start_run("dot", task="Write all the docs", intent="docs")
    stage.step(run, 1, who="dot", tokens=18_000)
    stage.step(run, 2, who="dot", tokens=15_000)


def _open_review(stage: Stage, run: str) -> str:
    return str(stage.read("robo", f"/runs/{run}")["open_reviews"][0]["id"])


def _end_runs(stage: Stage) -> None:
    run = stage.kept["finished"] = stage.start_run(task="Tidy up the docs folder")
    stage.step(run, 1)
    done = {
        "outcome": "completed",
        "summary": "All links work",
        "tests": {"ran": True, "passed": 12, "failed": 0},
        "diff": {"lines_added": 20, "lines_removed": 4, "files_changed": 2},
    }
    stage.refuse("robo", f"POST /runs/{run}/finish", {"outcome": "splendid"})
    stage.ask("robo", f"POST /runs/{run}/finish", done)
    stage.refuse("robo", f"POST /runs/{run}/finish", {"outcome": "failed"}, status=409)
    run = stage.start_run(task="Try the new runner")
    failed = {"outcome": "failed", "summary": "It needs more memory"}
    stage.ask("robo", f"POST /runs/{run}/finish", failed)
    run = stage.start_run(task="Start over")
    stage.ask("bob", f"POST /runs/{run}/abort", {"reason": "Not today"})
    stage.refuse("bob", f"POST /runs/{run}/abort", {"reason": "Again"}, status=409)
    stopped = stage.kept["stopped"]
    again = {"reason": "Looked at it", "budget": {"tokens": 2_000_000}}
    stage.refuse("bob", f"POST /runs/{stopped}/reopen", again, status=403)
    stage.ask("alice", f"POST /runs/{stopped}/reopen", again)
    parent = stage.start_run(task="Lead the upgrade")
    stage.start_run(task="Upgrade one library", parent_run=parent)
    stage.kept["parent"] = parent


def _read_runs(stage: Stage) -> None:
    run = stage.kept["finished"]
    for part in ("", "/ledger", "/verify", "/events"):
        stage.ask("robo", f"GET /runs/{run}{part}")
        stage.refuse("robo", f"GET /runs/{ABSENT}{part}", status=404)
