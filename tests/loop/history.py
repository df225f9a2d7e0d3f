"""A loop that has lived a little: one decision of almost every kind, and what came of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.auth import Principal
from accounts.models import Project
from loop.control.clock import run_cycle, send_heartbeat
from loop.inbox.notes import add_note
from loop.inbox.outcomes import report_outcome
from loop.inbox.recommendations import add_recommendation
from loop.inbox.triggers import accept_signal
from loop.models import Decision
from tests.loop.saying import CLEAN_UP, COMPLETE, FAILED, REPAIR, loop_policy
from tests.support.builders import Person, Robot

ALERT = {
    "name": "tell-of-it",
    "when": {"data": {"kind": "slow"}},
    "do": "emit_alert",
    "parameters": {
        "condition": "queue-slow/{data.queue}",
        "status": "firing",
        "severity": "high",
        "title": "The queue {data.queue} is slow",
    },
    "reason": "{data.queue} is slow.",
}
NOTES = {
    "name": "notes-wait",
    "when": {"snapshot": {"note_queue_length": {"at_least": 1}}},
    "do": "process_notes",
    "reason": "{note_queue_length} notes wait to be worked through.",
}
DRAFT = {
    "name": "recommendations-wait",
    "when": {"snapshot": {"pending_recommendations": {"at_least": 1}}},
    "do": "apply_retro_recommendation",
    "reason": "{pending_recommendations} recommendations wait to become drafts.",
}


@dataclass(frozen=True, kw_only=True)
class History:
    """Decisions by what they show."""

    project: Project
    emitted: Decision
    capped: Decision
    held: Decision
    repeat: Decision

    def path(self, *parts: object) -> str:
        named = filter(None, map(str, parts))
        return "/".join([f"/p/{self.project.slug}/loop", *named, ""])


def live_through(project: Project, robo: Robot, alice: Person) -> History:
    """Made by the loop itself; only some days are moved into the past."""
    rules = [ALERT, REPAIR, CLEAN_UP, NOTES, DRAFT]
    loop_policy(project, rules=rules, caps_per_hour={"start_loop": 3})

    def decided(type: str, by: Principal, **data: Any) -> Decision:
        told = accept_signal(project_id=project.pk, principal=by, type=type, data=data)
        run_cycle(project.pk)
        return Decision.objects.get(code=json.loads(told.body)["decision_id"])

    agent, person = robo.principal, alice.principal
    old = [decided("system/note", agent, number=number) for number in range(3)]
    for days, row in zip((9, 4, 2), old, strict=True):
        when = timezone.now() - timedelta(days=days)
        Decision.objects.filter(pk=row.pk).update(decided_at=when)
    emitted = decided(FAILED, agent, about="the login test")
    report = {"outcome": "succeeded", "summary": "Mended in one step", "run": None}
    report_outcome(decision=emitted, principal=agent, report=report)
    repeat = decided(FAILED, agent, about="the login test")
    held = decided(COMPLETE, agent, about="the nightly build")
    decided(FAILED, person, about="the import job")
    capped = decided(FAILED, agent, about="the export job")
    for _ in range(2):
        decided("system/note", agent, kind="slow", queue="mail")
    for text in ("The cache is never emptied", "Ask for <b>a second</b> key\u202e"):
        add_note(project_id=project.pk, principal=agent, text=text, data={})
    run_cycle(project.pk)
    for title, change in (
        ("Let checks begin anew once", {"set": {"checks": {"max_resets": 1}}}),
        ("Read the guide on flaky tests", {"advice": "Read it <i>together</i>."}),
    ):
        add_recommendation(
            project_id=project.pk,
            principal=agent,
            title=title,
            detail="Three runs lost an hour to this.",
            change={"policy": "default", **change} if "set" in change else change,
        )
    send_heartbeat(project.pk)
    run_cycle(project.pk)
    add_note(project_id=project.pk, principal=person, text="Later", data={})
    return History(
        project=project, emitted=emitted, capped=capped, held=held, repeat=repeat
    )
