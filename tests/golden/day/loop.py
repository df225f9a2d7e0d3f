"""The system loop: signals, decisions, notes, recommendations, incidents, its switch."""

from __future__ import annotations

from loop.control.clock import run_cycle
from tests.golden.day.administration import ABSENT
from tests.golden.stage import Stage


def play(stage: Stage) -> None:
    stage.begin("12_loop", hour=8)
    project = stage.project.pk
    failed = {"type": "agent/loop.failed", "data": {"agent": "robo"}}
    told = stage.ask("robo", "POST /loop/signals", failed)
    stage.refuse("robo", "POST /loop/signals", {"type": "agent/other"})
    notes = [
        stage.ask("robo", "POST /loop/notes", {"text": text})["id"]
        for text in ("Look at the rework of robo", "Ask for a smaller plan")
    ]
    stage.refuse("robo", "POST /loop/notes", {"text": ""})
    stage.clock.pass_time()
    run_cycle(project)
    for note, end in zip(notes, ("done", "failed"), strict=True):
        stage.ask("robo", f"POST /loop/notes/{note}/{end}", {"reason": "So"})
        stage.refuse("robo", f"POST /loop/notes/{ABSENT}/{end}", {}, status=404)
    _recommend(stage)
    decision = told["decision_id"]
    stage.ask(
        "robo", f"POST /loop/decisions/{decision}/outcome", {"outcome": "succeeded"}
    )
    stage.refuse("robo", f"POST /loop/decisions/{decision}/outcome", {"outcome": "x"})
    stage.ask("alice", "POST /loop/heartbeat")
    stage.refuse("nobody", "POST /loop/heartbeat", status=401)
    stage.clock.pass_time()
    run_cycle(project)
    stage.ask("alice", "GET /loop/incidents")
    found = stage.read("alice", "/loop/incidents")["items"]
    for incident in found[:1]:
        stage.ask(
            "alice", f"POST /loop/incidents/{incident['id']}/resolve", {"note": "Seen"}
        )
    stage.refuse("alice", f"POST /loop/incidents/{ABSENT}/resolve", {}, status=404)
    stage.ask("alice", "POST /loop/switch", {"paused": True, "reason": "Release"})
    stage.refuse("dora", "POST /loop/switch", {"paused": True}, status=403)
    stage.ask("alice", "POST /loop/switch", {"paused": False})
    stage.ask("bob", f"GET /loop/decisions/{decision}")
    stage.refuse("bob", f"GET /loop/decisions/{ABSENT}", status=404)
    for part in ("", "/summary", "/decisions", "/notes", "/recommendations"):
        stage.ask("bob", f"GET /loop{part}")
        stage.refuse("nobody", f"GET /loop{part}", status=401)
    stage.kept["decision"] = decision


def _recommend(stage: Stage) -> None:
    path = "/loop/recommendations"
    for number, end in ((5, "adopt"), (6, "dismiss"), (7, "")):
        change = {"set": {"checks": {"max_resets": number}}}
        body = {"title": f"Begin {number} times", "change": change}
        row = stage.ask("robo", f"POST {path}", body)
        if end:
            given = {"based_on": row["draft"]["based_on"]} if end == "adopt" else None
            stage.ask("alice", f"POST {path}/{row['id']}/{end}", given)
            stage.refuse("alice", f"POST {path}/{ABSENT}/{end}", given, status=404)
        stage.kept["recommendation"] = row["id"]
    stage.refuse("robo", f"POST {path}", {"title": ""})
