"""Reviews: asked, talked about, passed on, set aside, withdrawn, ruled on together."""

from __future__ import annotations

from typing import Any

from tests.golden.day.administration import ABSENT
from tests.golden.stage import Stage


def play(stage: Stage) -> None:
    stage.begin("07_reviews", hour=4.5)
    _ask_people(stage)
    _work_together(stage)
    _rule_together(stage)
    _allow_steps(stage)
    stage.ask("bob", "GET /reviews?state=open&limit=3")
    stage.ask("bob", "GET /reviews?kind=pause&sort=age", status=None)
    stage.refuse("bob", "GET /reviews?limit=0")


def _open(stage: Stage, run: str, **more: Any) -> str:
    body = {"kind": "request", "title": "May I drop the table?", **more}
    return str(stage.ask("robo", f"POST /runs/{run}/reviews", body)["id"])


def _ask_people(stage: Stage) -> None:
    run = stage.start_run(task="Plan the migration")
    stage.refuse("robo", f"POST /runs/{run}/reviews", {"kind": "pause", "title": "x"})
    withdrawn = _open(stage, run)
    stage.ask("robo", f"POST /reviews/{withdrawn}/withdraw")
    stage.refuse("robo", f"POST /reviews/{withdrawn}/withdraw", status=409)
    question = _open(
        stage, run, kind="question", title="Which?", options=["402", "405"]
    )
    stage.rule("bob", question, "answer", answer="Keep 402")
    stage.rule("bob", _open(stage, run, severity="high"), "approve", note="Yes")
    stage.rule("bob", _open(stage, run), "deny", note="Not before Monday")
    stage.rule("bob", _open(stage, run), "abort", note="Enough")


def _work_together(stage: Stage) -> None:
    run = stage.start_run(task="Move the shop to the new storage")
    review = stage.kept["talked"] = _open(
        stage, run, detail="It has 3 rows.", severity="critical"
    )
    path = f"/reviews/{review}"
    stage.ask("bob", f"POST {path}/claim")
    stage.refuse("dora", f"POST {path}/claim", status=403)
    stage.ask("bob", f"POST {path}/comments", {"text": "Who owns the table?"})
    stage.refuse("bob", f"POST {path}/comments", {"text": ""})
    first = stage.read("bob", path)["history"][-1]["comment"]
    reply = {"text": "@alice does, ask before noon.", "reply_to": first}
    stage.ask("bob", f"POST {path}/comments", reply)
    stage.ask("bob", f"POST {path}/handover", {"note": "Off to lunch", "to": "alice"})
    stage.refuse("bob", f"POST {path}/handover", {"note": ""})
    stage.ask("alice", f"POST {path}/claim")
    stage.ask("alice", f"POST {path}/release")
    stage.refuse("dora", f"POST {path}/release", status=403)
    stage.ask(
        "alice", f"POST {path}/assign", {"to": "role:manager", "note": "One of us"}
    )
    stage.refuse("alice", f"POST {path}/assign", {"to": "nobody-here"})
    stage.ask("bob", f"POST {path}/snooze", {"until": "comment"})
    stage.refuse("bob", f"POST {path}/snooze", {"until": "later"})
    stage.ask("alice", f"POST {path}/comments", {"text": "It is mine."})
    run = stage.start_run(task="Rename a table")
    other = _open(stage, run, title="May I rename it?")
    stage.ask("bob", f"POST /reviews/{other}/snooze", {"until": "2031-05-15T13:00:00Z"})
    stage.refuse("bob", f"POST /reviews/{ABSENT}/claim", status=404)


def _rule_together(stage: Stage) -> None:
    items = []
    for name in ("a", "b"):
        run = stage.start_run(task=f"Clean up {name}")
        call = stage.command(run, f"rm -rf cache/{name}")
        seen = stage.read("bob", f"/reviews/{call['review']['id']}")
        items.append(
            {
                "id": seen["id"],
                "version": seen["version"],
                "content_digest": seen["content_digest"],
            }
        )
    body = {"items": items, "action": "approve", "note": "Caches"}
    stage.ask("bob", "POST /reviews/bulk-ruling", body)
    stage.refuse("bob", "POST /reviews/bulk-ruling", {"items": [], "action": "approve"})


def _allow_steps(stage: Stage) -> None:
    run = stage.start_run(task="Guess on")
    paused = stage.step(run, 1, uncertainty=0.9)
    stage.rule(
        "alice", paused["review"]["id"], "approve", note="Go on", allowance={"steps": 2}
    )
    stage.step(run, 2, uncertainty=0.9)
    stage.step(run, 3, uncertainty=0.9)
    paused = stage.step(run, 4, uncertainty=0.9)
    stage.rule("alice", paused["review"]["id"], "approve", allowance={"steps": 5})
    (given,) = stage.read("alice", f"/runs/{run}")["allowances"]
    path = f"/runs/{run}/allowances"
    stage.ask("alice", f"POST {path}/{given['id']}/revoke")
    stage.refuse("alice", f"POST {path}/{ABSENT}/revoke", status=404)
    paused = stage.step(run, 5, uncertainty=0.9)
    stage.rule("alice", paused["review"]["id"], "approve", allowance={"steps": 50})
    stage.kept["allowed"] = run
    (given,) = stage.read("alice", f"/runs/{run}")["allowances"]
    stage.kept["allowance"] = given["id"]
    aborted = stage.start_run(task="Guess worse")
    paused = stage.step(aborted, 1, uncertainty=0.99)
    stage.rule("bob", paused["review"]["id"], "abort", note="No")
