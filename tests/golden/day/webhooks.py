"""Webhooks: added, asked to be tested, changed, removed, and delivered at the day's end."""

from __future__ import annotations

from tests.golden.day.administration import ABSENT
from tests.golden.stage import Stage
from webhooks.events import TYPES

HOOK = "https://receiver.invalid/hook"


def play(stage: Stage) -> None:
    stage.begin("03_webhooks", hour=1.5)
    body = {"url": HOOK, "types": list(TYPES), "description": "Chat of the team"}
    made = stage.ask("alice", "POST /webhooks", body)
    stage.refuse("alice", "POST /webhooks", {"url": "ftp://a", "types": []})
    stage.refuse("bob", "POST /webhooks", body, status=403)
    path = f"/webhooks/{made['id']}"
    stage.ask("alice", f"GET {path}")
    stage.refuse("alice", f"GET /webhooks/{ABSENT}", status=404)
    test = stage.ask("alice", f"POST {path}/test")
    for action in ("rotate", "disable", "enable"):
        stage.ask("alice", f"POST {path}/{action}")
        stage.refuse("alice", f"POST /webhooks/{ABSENT}/{action}", status=404)
    stage.refuse("alice", f"POST /webhooks/{ABSENT}/test", status=404)
    resend = "/webhooks/deliveries"
    stage.ask("alice", f"POST {resend}/{test['id']}/resend")
    stage.refuse("alice", f"POST {resend}/{ABSENT}/resend", status=404)
    other = stage.ask("alice", "POST /webhooks", {**body, "types": ["run.stopped"]})
    stage.ask("alice", f"DELETE /webhooks/{other['id']}")
    stage.refuse("alice", f"DELETE /webhooks/{other['id']}", status=404)
    stage.kept["webhook"] = made["id"]


def deliver_all(stage: Stage) -> None:
    from webhooks.delivery.fanout import fan_out

    stage.begin("14_deliveries", hour=11)
    while fan_out():
        pass
    path = f"/webhooks/{stage.kept['webhook']}/deliveries"
    stage.ask("alice", f"GET {path}?limit=3")
    stage.refuse("alice", f"GET /webhooks/{ABSENT}/deliveries", status=404)
    stage.ask("alice", "GET /webhooks")
    stage.refuse("bob", "GET /webhooks", status=403)
