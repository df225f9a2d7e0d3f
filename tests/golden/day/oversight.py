"""Notes to agents and halts."""

from __future__ import annotations

from tests.golden.day.administration import ABSENT
from tests.golden.stage import Stage


def play(stage: Stage) -> None:
    stage.begin("10_oversight", hour=6.75)
    run = stage.kept["noted"] = stage.start_run(
        task="Mend the import", labels={"stage": "canary"}
    )
    path = f"/runs/{run}/notes"
    note = {"text": "Leave the fixtures as they are.", "tags": ["scope"]}
    made = stage.ask("bob", f"POST {path}", note)
    stage.refuse("bob", f"POST {path}", {"text": ""})
    stage.step(run, 1)
    stage.ask("robo", f"GET {path}")
    stage.refuse("robo", f"GET /runs/{ABSENT}/notes", status=404)
    stage.ask("robo", f"POST {path}/{made['id']}/read")
    stage.refuse("robo", f"POST {path}/{ABSENT}/read", status=404)
    stage.ask("bob", f"POST {path}", {"text": "Run only the tests of the folder."})
    begun = {"scope": {"label": "stage:canary"}, "reason": "Orders were booked twice."}
    halt = stage.ask("alice", "POST /halts", begun)
    stage.refuse("alice", "POST /halts", {"scope": {}, "reason": "All"})
    step = {"number": 2, "tokens": 10, "tool_calls": 0}
    stage.refuse("robo", f"POST /runs/{run}/steps", step, status=409)
    call = {"kind": "command", "command": "ls"}
    stage.refuse("robo", f"POST /runs/{run}/tool-calls", call, status=409)
    stage.refuse(
        "robo",
        "POST /runs",
        {"task": "Go on", "labels": {"stage": "canary"}},
        status=409,
    )
    stage.ask(
        "alice", f"DELETE /halts/{halt['id']}", {"reason": "The import is mended."}
    )
    stage.refuse("alice", f"DELETE /halts/{ABSENT}", {"reason": "x"}, status=404)
    other = stage.start_run(task="Run wild")
    waits = {"kind": "request", "title": "May I?"}
    stage.ask("robo", f"POST /runs/{other}/reviews", waits)
    late = f"/runs/{stage.kept['calls']}/tool-calls/{stage.kept['unclaimed']}/claim"
    given = {"digest": stage.kept["digest"]}
    stage.refuse("robo", f"POST {late}", given, status=410)
    scope = {"scope": {"run": other}, "reason": "It runs wild"}
    stage.kept["halt"] = stage.ask("alice", "POST /halts", scope)["id"]
    stage.ask("bob", "GET /halts")
    stage.refuse("nobody", "GET /halts", status=401)
