"""Plans: submitted, amended, approved, followed, denied."""

from __future__ import annotations

from typing import Any

from tests.golden.stage import Stage

PLAN: dict[str, Any] = {
    "title": "Free the build server: old builds and the merged branch",
    "steps": [
        {
            "purpose": "Remove the builds that no release points to",
            "paths": ["builds"],
            "calls": [
                {
                    "tool": "Bash",
                    "command": "rm -rf builds/shop-1",
                    "shape": "shape",
                    "count": 4,
                },
                {"tool": "Bash", "command": "rm -rf /var/cache/builds"},
            ],
        },
        {
            "purpose": "See what is left",
            "calls": [{"tool": "Bash", "command": "du -sh builds", "count": 2}],
        },
    ],
    "limits": {"time_ms": 7_200_000, "cost_usd": "2.50"},
}


def play(stage: Stage) -> None:
    stage.begin("08_plans", hour=5.5)
    run = stage.kept["planned"] = stage.start_run(task="Free the build server")
    path = f"/runs/{run}/plans"
    stage.refuse("robo", f"POST {path}", {"title": "Nothing", "steps": []})
    first = stage.ask("robo", f"POST {path}", PLAN)
    stage.rule("bob", first["id"], "deny", note="Smaller, please")
    second = stage.ask("robo", f"POST {path}", PLAN)
    stage.rule("alice", second["id"], "approve", note="Go ahead")
    for text in (
        "rm -rf builds/shop-2",
        "rm -rf builds/shop-3",
        "du -sh builds",
        "rm -rf layers",
    ):
        stage.command(run, text)
    stage.ask("robo", f"GET {path}")
    stage.refuse("rita", f"GET {path}", status=404)
    waits = stage.start_run(task="Move the builds elsewhere")
    stage.kept["plan_review"] = stage.ask("robo", f"POST /runs/{waits}/plans", PLAN)[
        "id"
    ]
    replaced = stage.start_run(task="Plan twice")
    for _ in range(2):
        plan = stage.ask("robo", f"POST /runs/{replaced}/plans", PLAN)
        stage.rule("alice", plan["id"], "approve", note="Go")
    ended = stage.start_run(task="Plan and give up")
    plan = stage.ask("robo", f"POST /runs/{ended}/plans", PLAN)
    stage.rule("alice", plan["id"], "approve", note="Go")
    stage.ask("robo", f"POST /runs/{ended}/finish", {"outcome": "failed"})
