"""People at the console: rulings held, sent and taken back, notes, passwords, sign-ins."""

from __future__ import annotations

import re

from console.models import Preferences
from reviews.tasks import move_runs
from tests.golden.stage import Stage

NEW = "correct-horse-battery"


def play(stage: Stage) -> None:
    stage.begin("13_work_at_the_console", hour=10)
    _hold_rulings(stage)
    _rule_in_pairs(stage)
    _change_own(stage)
    path = f"/p/shop/runs/{stage.kept['calls']}"
    alice = stage.sign_in("alice")
    stage.post(alice, f"{path}/note/", text="The old builds were in use.")
    stage.post(alice, f"{path}/note/", text="")
    stage.post(alice, f"{path}/tell/", text="Keep shop-1190.", tags="scope")


def _hold_rulings(stage: Stage) -> None:
    Preferences.objects.filter(user=stage.users["ivan"]).update(takes_back=True)
    ivan = stage.sign_in("ivan")
    for name, end in (("a", "send"), ("b", "take-back"), ("c", "")):
        run = stage.start_run(task=f"Clean up {name} by hand")
        call = stage.command(run, f"rm -rf logs/{name}")
        path = f"/p/shop/queue/{call['review']['id']}"
        form = _read_form(stage, ivan, f"{path}/")
        stage.post(ivan, f"{path}/rule/", **form, action="approve", text="Old logs")
        if end:
            stage.post(ivan, f"{path}/{end}/")


def _read_form(stage: Stage, who: str, address: str) -> dict[str, str]:
    text = stage.client.get(address, headers=stage.headers[who]).text
    found = re.findall(r'type="hidden" name="([a-z_]+)" value="([^"]+)"', text)
    return {name: value for name, value in found if name != "dialog"}


def _rule_in_pairs(stage: Stage) -> None:
    run = stage.start_run(task="Rotate the keys", intent="security")
    call = stage.command(run, "rm -rf keys/old")
    stage.rule("bob", call["review"]["id"], "approve", note="One")
    changed = {"command": "rm -rf keys/old/2029"}
    stage.rule("alice", call["review"]["id"], "amend", amended=changed, note="Less")
    stage.rule("bob", call["review"]["id"], "approve", note="Two")
    run = stage.start_run(task="Rotate them again", intent="security")
    body = {
        "document": {
            "four_eyes": {"approvals": 2, "severity": ["critical"]},
            "budget": {"time_ms": None},
        },
        "note": "Only what is critical",
        "activate": True,
        "apply_to_running": True,
    }
    stage.ask("alice", "POST /policies/paired/versions", body)
    stage.clock.pass_time()
    move_runs()
    stage.step(run, 1)


def _change_own(stage: Stage) -> None:
    join = stage.kept["join"]
    form = {"username": "gina", "password": NEW, "again": NEW}
    stage.headers["gina"] = stage.headers[stage.sign_in("bob")].copy()
    csrf = stage.headers["gina"]["Cookie"].partition("; ")[2]
    stage.headers["gina"]["Cookie"] = csrf
    stage.post("gina", join, **{**form, "again": "other"})
    stage.post("gina", join, **form)
    stage.post("gina", "/sign-in/", username="gina", password="wrong")
    stage.post("gina", "/sign-in/", username="gina", password=NEW)
    erin = stage.sign_in("erin")
    old = stage.passwords["erin"]
    words = {"new_password1": NEW, "new_password2": NEW}
    stage.post(erin, "/password/", old_password="wrong", **words)
    other = stage.sign_in("dora")
    stage.client.get("/p/shop/settings/you/", headers=stage.headers[other])
    dora = stage.sign_in("dora")
    stage.post(dora, "/p/shop/settings/you/sign-out/")
    stage.post(erin, "/password/", old_password=old, **words)
