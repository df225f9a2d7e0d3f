"""What each operation of the API is tried with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.config.authorisation import halts, people
from tests.config.authorisation.agents import keep_agent, plan_calls
from tests.config.authorisation.notes import noted
from tests.config.authorisation.target import Target
from tests.config.authorisation.world import HOOK, World
from tests.support.builders import step, unique

_LISTS = (
    "GET /runs",
    "GET /runs.csv",
    "GET /runs/{run}/plans",
    "GET /runs/{run}",
    "GET /runs/{run}/ledger",
    "GET /runs/{run}/verify",
    "GET /runs/{run}/decision",
    "GET /rulings",
    "GET /rulings.csv",
    "GET /stats/reviewers",
    "GET /limits",
    "GET /stats/rules",
    "GET /halts",
    "GET /stats/gates",
    "GET /stats/spend",
    "GET /stats/spend.csv",
    "GET /stats/reviews",
    "GET /policies",
    "GET /policies/assignments",
    "GET /webhooks",
    "GET /people",
    "GET /me/profile",
    "GET /me/tokens",
    "GET /project",
    "GET /agents",
    "GET /policies/schema.json",
    "GET /healthz",
    "GET /readyz",
    "GET /status",
)
TARGETS: Mapping[str, Callable[[World], Target]] = {
    **dict.fromkeys(_LISTS, World.running),
    "POST /runs": lambda world: world.running({"task": "t"}),
    "PUT /me/profile": lambda world: world.running({"time_zone": "UTC"}),
    "POST /runs/{run}/plans": plan_calls,
    "GET /runs/{run}/checkpoints/latest": World.with_steps,
    "GET /runs/{run}/events": World.finished,
    "POST /runs/{run}/steps": lambda world: world.running(step(1)),
    "POST /runs/{run}/steps/batch": lambda world: world.running({"steps": [step(1)]}),
    "POST /runs/{run}/checkpoints": lambda world: world.running({"step": 0}),
    "POST /runs/{run}/violations": lambda world: world.running(
        {"rule": "R1", "severity": "low"}
    ),
    "POST /runs/{run}/finish": lambda world: world.running({"outcome": "completed"}),
    "POST /runs/{run}/reviews": lambda world: world.running(
        {"kind": "question", "title": "?"}
    ),
    "POST /reviews/{review}/withdraw": World.asking,
    "POST /runs/{run}/abort": lambda world: world.running({}),
    "POST /runs/{run}/reopen": World.stopped,
    "GET /reviews": World.paused,
    "GET /reviews/{review}": World.paused,
    "POST /reviews/{review}/ruling": lambda world: world.paused("approve"),
    "POST /reviews/bulk-ruling": World.paused_for_several,
    "POST /reviews/{review}/claim": World.paused,
    "POST /reviews/{review}/release": World.claimed,
    "POST /reviews/{review}/assign": lambda world: Target(
        *_ids(world.paused()), {"to": "role:manager"}
    ),
    "POST /reviews/{review}/snooze": lambda world: Target(
        *_ids(world.paused()), {"until": "comment"}
    ),
    "POST /reviews/{review}/handover": lambda world: Target(
        *_ids(world.claimed()), {"note": "hm"}
    ),
    "POST /reviews/{review}/comments": lambda world: Target(
        *_ids(world.paused()), {"text": "hm"}
    ),
    "POST /runs/{run}/tool-calls": lambda world: world.running(
        {"kind": "command", "command": "ls"}
    ),
    "GET /runs/{run}/tool-calls/{call}": World.looked_up,
    "POST /runs/{run}/tool-calls/{call}/claim": World.calling,
    "POST /runs/{run}/tool-calls/{call}/result": lambda world: world.calling(
        {"ok": True}
    ),
    "POST /runs/{run}/gate-checks": lambda world: world.running(
        {"step": 0, "gates": ["code-quality"]}
    ),
    "GET /runs/{run}/gate-checks/{check}": World.checking,
    "POST /runs/{run}/gate-checks/{check}/verdicts": lambda world: world.checking(
        {"text": "GATE_REVIEW: FAIL - no"}
    ),
    "POST /runs/{run}/warnings/{warning}/acknowledge": World.warned,
    "POST /runs/{run}/turns": lambda world: world.running({}),
    "POST /otlp/v1/traces": lambda world: world.running({}),
    "GET /permissions": World.permitted,
    "POST /permissions/{permission}/revoke": World.permitted,
    "GET /runs/{run}/notes": noted,
    "POST /runs/{run}/notes": lambda world: world.running({"text": "Slowly"}),
    "POST /runs/{run}/notes/{note}/read": noted,
    "POST /runs/{run}/allowances/{allowance}/revoke": World.allowed,
    "GET /exemptions": World.blocked,
    "POST /exemptions": World.blocked,
    "POST /exemptions/{exemption}/revoke": World.exempted,
    "POST /halts": halts.choose_run,
    "DELETE /halts/{halt}": halts.halt_run,
    "POST /limits/raise": World.limited,
    "GET /policies/{name}": World.with_policy,
    "GET /policies/{name}/versions": World.with_policy,
    "GET /policies/{name}/versions/{number}": World.with_policy,
    "GET /policies/{name}/diff": World.with_policy,
    "POST /policies/validate": lambda world: world.running({"document": {}}),
    "POST /policies/{name}/versions": World.drafting,
    "POST /policies/{name}/versions/{number}/activate": World.drafted,
    "PUT /policies/assignments": lambda world: world.running([]),
    "POST /policies/{name}/backtest": World.trying,
    "GET /policies/{name}/suggestions": World.with_policy,
    "POST /policies/{name}/suggestions": World.searching,
    "POST /policies/{name}/suggestions/draft": World.suggested,
    "GET /backtests/{backtest}": World.tried,
    "GET /backtests/{backtest}/items": World.tried,
    "POST /backtests/{backtest}/cancel": World.tried,
    "POST /policies/{name}/shadow": World.watching,
    "GET /policies/{name}/shadows": World.watched,
    "GET /shadows/{shadow}": World.watched,
    "GET /shadows/{shadow}/items": World.watched,
    "POST /shadows/{shadow}/stop": World.watched,
    "POST /webhooks": lambda world: world.running(
        {"url": HOOK, "types": ["run.stopped"]}
    ),
    "GET /webhooks/{webhook}": World.hooked,
    "DELETE /webhooks/{webhook}": World.hooked,
    "POST /webhooks/{webhook}/test": World.hooked,
    "POST /webhooks/{webhook}/rotate": World.hooked,
    "POST /webhooks/{webhook}/enable": World.hooked,
    "POST /webhooks/{webhook}/disable": World.hooked,
    "GET /webhooks/{webhook}/deliveries": World.hooked,
    "POST /webhooks/deliveries/{delivery}/resend": World.told,
    "POST /people/invitations": people.inviting,
    "POST /invitations/{invitation}/send": people.invited,
    "DELETE /invitations/{invitation}": people.invited,
    "PATCH /people/{person}": people.promoting,
    "DELETE /people/{person}": people.joined,
    "POST /people/{person}/password-link": people.joined,
    "POST /me/tokens": lambda world: world.running({"name": "terminal"}),
    "DELETE /me/tokens/{token}": people.holding_token,
    "PATCH /project": lambda world: world.running({"name": unique("Shop")}),
    "POST /projects": lambda world: world.running(
        {"name": "Another", "slug": unique("another")}
    ),
    "POST /evaluate/continue": lambda world: world.running({"step_number": 1}),
    "POST /evaluate/command": lambda world: world.running({"command": "ls"}),
    "POST /evaluate/tool": lambda world: world.running({"tool": "Read"}),
    "POST /evaluate/edit": lambda world: world.running(
        {"file_path": "a", "content": "x"}
    ),
    "POST /evaluate/multi-edit": lambda world: world.running(
        {"file_path": "a", "original": "x", "edits": [{"old": "x", "new": "y"}]}
    ),
    "POST /evaluate/turn": lambda world: world.running({"content": "Done."}),
    "POST /evaluate/verdict": lambda world: world.running(
        {"text": "GATE_REVIEW: FAIL - no"}
    ),
    "POST /loop/signals": lambda world: world.told_of({"type": "system/note"}),
    "POST /loop/notes": lambda world: world.told_of({"text": "n"}),
    "POST /loop/recommendations": lambda world: world.told_of(
        {"title": "t", "change": {"set": {"checks": {}}}}
    ),
    "GET /loop/decisions": lambda world: world.looped,
    "GET /loop/notes": lambda world: world.looped,
    "GET /loop/recommendations": World.recommended,
    "GET /loop/incidents": lambda world: world.looped,
    "GET /loop/decisions/{decision_id}": lambda world: world.looped,
    "POST /loop/decisions/{decision_id}/outcome": lambda world: world.told_of(
        {"outcome": "succeeded"}
    ),
    "POST /loop/notes/{note}/done": lambda world: world.told_of({}),
    "POST /loop/notes/{note}/failed": World.note_failed,
    "POST /loop/heartbeat": lambda world: world.looped,
    "POST /loop/recommendations/{recommendation}/adopt": World.recommended,
    "POST /loop/recommendations/{recommendation}/dismiss": World.recommended,
    "POST /loop/incidents/{incident}/resolve": lambda world: world.told_of({}),
    "GET /loop": lambda world: world.looped,
    "GET /loop/summary": lambda world: world.looped,
    "POST /loop/switch": lambda world: world.told_of({"paused": True}),
    "POST /agents": lambda world: world.running({"name": unique("made")}),
    "PATCH /agents/{agent}": lambda world: keep_agent(
        world, {"description": "Builds the shop"}
    ),
    "POST /agents/{agent}/keys": lambda world: keep_agent(world, {"name": "ci"}),
    "DELETE /agents/{agent}/keys/{key}": keep_agent,
}


def _ids(target: Target) -> tuple[str, str]:
    return target.run, target.review
