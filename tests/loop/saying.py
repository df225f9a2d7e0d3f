"""What tests of the loop do again and again: a policy, a signal, a look, a decision."""

from __future__ import annotations

import json
from typing import Any

import httpx

from accounts.models import Project
from guidance.models import PolicyVersion
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from loop.control.clock import run_cycle
from loop.models import Signal
from tests.support.builders import make_policy

FAILED, COMPLETE = "agent/loop.failed", "agent/loop.complete"
# Two loops that may be started: one that can do no harm, and one that can.
KINDS = [
    {
        "name": "repair",
        "parameters": {
            "type": "object",
            "properties": {"about": {"type": ["string", "integer"]}},
            "additionalProperties": False,
        },
        "destructive": False,
    },
    {"name": "cleanup", "description": "Deletes what is old."},
]
REPAIR = {
    "name": "repair-what-failed",
    "when": {"trigger": [FAILED]},
    "do": "start_loop",
    "kind": "repair",
    "parameters": {"about": "{data.about}"},
    "reason": "{data.about} failed.",
}
CLEAN_UP = {
    "name": "clean-up-after",
    "when": {"trigger": [COMPLETE]},
    "do": "start_loop",
    "kind": "cleanup",
    "reason": "What was completed leaves files behind.",
}


def loop_policy(project: Project, **section: Any) -> PolicyVersion:
    """The next version of the policy that the loop decides by."""
    wanted = {"kinds": KINDS, "rules": [REPAIR, CLEAN_UP], **section}
    return make_policy("default", project=project, loop=wanted)


def send(client: httpx.Client, type: str = FAILED, **data: Any) -> str:
    """A signal; returns the id of the decision on it."""
    body = {"type": type, "data": data}
    answer = client.post("/loop/signals", json=body)
    assert answer.status_code == 202, answer.text
    told: str = answer.json()["decision_id"]
    return told


def get_decision(client: httpx.Client, decision: str) -> dict[str, Any]:
    answer = client.get(f"/loop/decisions/{decision}")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def outcome(
    client: httpx.Client, project: Project, type: str = FAILED, **data: Any
) -> dict[str, Any]:
    """Send a signal, have it decided, and read the decision."""
    decision = send(client, type, **data)
    run_cycle(project.pk)
    return get_decision(client, decision)


def loop_runs(project: Project) -> list[Run]:
    runs = Run.objects.select_related("agent", "policy", "parent")
    return list(runs.filter(project=project, intent="system-loop").order_by("pk"))


def events(project: Project) -> list[dict[str, Any]]:
    """Every event that was ever emitted, from the ledger."""
    return [
        json.loads(entry.payload)["event"]
        for run in loop_runs(project)
        for entry in run.entries.filter(type="loop.emitted").order_by("seq")
    ]


def sound(project: Project) -> None:
    """The ledger is whole, and every decision in it comes out again."""
    for run in loop_runs(project):
        assert verify_run(run).ok
        assert replay_run(run).difference is None
    left = Signal.objects.filter(project=project, decision__isnull=False, pending=True)
    assert not left.exists()
