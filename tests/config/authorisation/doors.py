"""The matrix: of each operation who may use it, and what everybody else is told."""

from __future__ import annotations

from tests.config.authorisation import halts, people
from tests.config.authorisation.agents import keep_agent, plan_calls
from tests.config.authorisation.notes import noted
from tests.config.authorisation.rules import (
    ACTING,
    ANYBODY,
    EVERYBODY,
    MEMBERS,
    SESSIONS,
    Door,
    administers_something,
    admins_only,
    agents_only,
    every_person,
    for_everybody,
    in_project,
    managers_only,
    manages_something,
    people_only,
    readers,
    signed_in_admins_only,
    stateless,
)
from tests.config.authorisation.target import Target
from tests.config.authorisation.world import HOOK, World
from tests.support.builders import step, unique

LISTED = Door(target=World.running, allowed=EVERYBODY | SESSIONS, refused={})

DOORS: dict[str, Door] = {
    "POST /runs": Door(
        target=lambda world: world.running({"task": "t"}),
        allowed=ANYBODY,
        refused=dict.fromkeys({*MEMBERS, "outsider"}, 403)
        | dict.fromkeys(SESSIONS, 401),
    ),
    "GET /runs": LISTED,
    "GET /runs.csv": LISTED,
    "POST /runs/{run}/plans": agents_only(plan_calls),
    "GET /runs/{run}/plans": readers(World.running),
    "GET /runs/{run}": readers(World.running),
    "GET /runs/{run}/checkpoints/latest": readers(World.with_steps),
    "GET /runs/{run}/ledger": readers(World.running),
    "GET /runs/{run}/verify": readers(World.running),
    "GET /runs/{run}/decision": readers(World.running, session=False),
    "GET /runs/{run}/events": readers(World.finished),
    "POST /runs/{run}/steps": agents_only(lambda world: world.running(step(1))),
    "POST /runs/{run}/steps/batch": agents_only(
        lambda world: world.running({"steps": [step(1)]})
    ),
    "POST /runs/{run}/checkpoints": agents_only(
        lambda world: world.running({"step": 0})
    ),
    "POST /runs/{run}/violations": agents_only(
        lambda world: world.running({"rule": "R1", "severity": "low"})
    ),
    "POST /runs/{run}/finish": agents_only(
        lambda world: world.running({"outcome": "completed"})
    ),
    "POST /runs/{run}/reviews": agents_only(
        lambda world: world.running({"kind": "question", "title": "?"})
    ),
    "POST /reviews/{review}/withdraw": agents_only(World.asking),
    "POST /runs/{run}/abort": people_only(lambda world: world.running({})),
    "POST /runs/{run}/reopen": managers_only(World.stopped),
    "GET /reviews": Door(
        target=World.paused,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "GET /reviews/{review}": people_only(World.paused, reads=True),
    "POST /reviews/{review}/ruling": people_only(lambda world: world.paused("approve")),
    "POST /reviews/bulk-ruling": people_only(World.paused_for_several),
    "POST /reviews/{review}/claim": people_only(World.paused),
    "POST /reviews/{review}/release": managers_only(World.claimed),
    "POST /reviews/{review}/assign": people_only(
        lambda world: Target(*_ids(world.paused()), {"to": "role:manager"})
    ),
    "POST /reviews/{review}/snooze": people_only(
        lambda world: Target(*_ids(world.paused()), {"until": "comment"})
    ),
    "POST /reviews/{review}/handover": managers_only(
        lambda world: Target(*_ids(world.claimed()), {"note": "hm"})
    ),
    "POST /reviews/{review}/comments": people_only(
        lambda world: Target(*_ids(world.paused()), {"text": "hm"})
    ),
    "POST /runs/{run}/tool-calls": agents_only(
        lambda world: world.running({"kind": "command", "command": "ls"})
    ),
    "GET /runs/{run}/tool-calls/{call}": agents_only(World.looked_up),
    "POST /runs/{run}/tool-calls/{call}/claim": agents_only(World.calling),
    "POST /runs/{run}/tool-calls/{call}/result": agents_only(
        lambda world: world.calling({"ok": True})
    ),
    "POST /runs/{run}/gate-checks": agents_only(
        lambda world: world.running({"step": 0, "gates": ["code-quality"]})
    ),
    "GET /runs/{run}/gate-checks/{check}": agents_only(World.checking),
    "POST /runs/{run}/gate-checks/{check}/verdicts": agents_only(
        lambda world: world.checking({"text": "GATE_REVIEW: FAIL - no"})
    ),
    "POST /runs/{run}/warnings/{warning}/acknowledge": people_only(World.warned),
    "POST /runs/{run}/turns": agents_only(lambda world: world.running({})),
    "POST /otlp/v1/traces": Door(
        target=lambda world: world.running({}),
        allowed=ANYBODY,
        refused=dict.fromkeys({*MEMBERS, "outsider"}, 403)
        | dict.fromkeys(SESSIONS, 401),
    ),
    "GET /permissions": Door(
        target=World.permitted,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "POST /permissions/{permission}/revoke": people_only(World.permitted),
    "GET /runs/{run}/notes": readers(noted),
    "POST /runs/{run}/notes": people_only(
        lambda world: world.running({"text": "Slowly"})
    ),
    "POST /runs/{run}/notes/{note}/read": agents_only(noted),
    "POST /runs/{run}/allowances/{allowance}/revoke": people_only(World.allowed),
    "GET /exemptions": Door(
        target=World.blocked,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "POST /exemptions": managers_only(World.blocked),
    "POST /exemptions/{exemption}/revoke": people_only(World.exempted),
    "POST /halts": people_only(halts.choose_run),
    "DELETE /halts/{halt}": managers_only(halts.halt_run),
    **{
        f"GET {path}": Door(
            target=World.running,
            allowed={*MEMBERS, *SESSIONS, "outsider"},
            refused=dict.fromkeys(ANYBODY, 403),
        )
        for path in (
            *("/rulings", "/rulings.csv", "/stats/reviewers", "/limits"),
            *("/stats/rules", "/halts"),
        )
    },
    "POST /limits/raise": manages_something(World.limited),
    **dict.fromkeys(
        (
            "GET /stats/gates",
            "GET /stats/spend",
            "GET /stats/spend.csv",
            "GET /stats/reviews",
        ),
        Door(
            target=World.running,
            allowed={*MEMBERS, *SESSIONS, "outsider"},
            refused=dict.fromkeys(ANYBODY, 403),
        ),
    ),
    "GET /policies": for_everybody(World.running, reads=True),
    "GET /policies/{name}": in_project(World.with_policy, reads=True),
    "GET /policies/{name}/versions": in_project(World.with_policy, reads=True),
    "GET /policies/{name}/versions/{number}": in_project(World.with_policy, reads=True),
    "GET /policies/{name}/diff": in_project(World.with_policy, reads=True),
    "POST /policies/validate": Door(
        target=lambda world: world.running({"document": {}}),
        allowed={*MEMBERS, "outsider", "session with token"},
        refused=dict.fromkeys({*ANYBODY, "session"}, 403),
    ),
    "POST /policies/{name}/versions": manages_something(World.drafting),
    "POST /policies/{name}/versions/{number}/activate": managers_only(World.drafted),
    "GET /policies/assignments": for_everybody(World.running, reads=True),
    "PUT /policies/assignments": manages_something(lambda world: world.running([])),
    "POST /policies/{name}/backtest": manages_something(World.trying),
    "GET /policies/{name}/suggestions": in_project(World.with_policy, reads=True),
    "POST /policies/{name}/suggestions": managers_only(World.searching),
    "POST /policies/{name}/suggestions/draft": managers_only(World.suggested),
    "GET /backtests/{backtest}": in_project(World.tried, reads=True),
    "GET /backtests/{backtest}/items": in_project(World.tried, reads=True),
    "POST /backtests/{backtest}/cancel": managers_only(World.tried),
    "POST /policies/{name}/shadow": managers_only(World.watching),
    "GET /policies/{name}/shadows": people_only(World.watched, reads=True),
    "GET /shadows/{shadow}": people_only(World.watched, reads=True),
    "GET /shadows/{shadow}/items": people_only(World.watched, reads=True),
    "POST /shadows/{shadow}/stop": managers_only(World.watched),
    "POST /webhooks": manages_something(
        lambda world: world.running({"url": HOOK, "types": ["run.stopped"]})
    ),
    "GET /webhooks": manages_something(World.running, reads=True),
    "GET /webhooks/{webhook}": managers_only(World.hooked, reads=True),
    "DELETE /webhooks/{webhook}": managers_only(World.hooked),
    "POST /webhooks/{webhook}/test": managers_only(World.hooked),
    "POST /webhooks/{webhook}/rotate": managers_only(World.hooked),
    "POST /webhooks/{webhook}/enable": managers_only(World.hooked),
    "POST /webhooks/{webhook}/disable": managers_only(World.hooked),
    "GET /webhooks/{webhook}/deliveries": managers_only(World.hooked, reads=True),
    "POST /webhooks/deliveries/{delivery}/resend": managers_only(World.told),
    "GET /people": every_person(World.running, reads=True),
    "POST /people/invitations": administers_something(people.inviting),
    "POST /invitations/{invitation}/send": admins_only(people.invited),
    "DELETE /invitations/{invitation}": admins_only(people.invited),
    "PATCH /people/{person}": admins_only(people.promoting),
    "DELETE /people/{person}": admins_only(people.joined),
    "POST /people/{person}/password-link": signed_in_admins_only(people.joined),
    "GET /me/profile": every_person(World.running, reads=True),
    "PUT /me/profile": every_person(lambda world: world.running({"time_zone": "UTC"})),
    "GET /me/tokens": every_person(World.running, reads=True),
    "POST /me/tokens": every_person(lambda world: world.running({"name": "terminal"})),
    "DELETE /me/tokens/{token}": Door(
        target=people.holding_token,
        allowed={"admin"},
        refused=dict.fromkeys(ANYBODY | {"session"}, 403)
        | dict.fromkeys(MEMBERS - {"admin"}, 404)
        | {"outsider": 404, "session with token": 404},
    ),
    "GET /project": every_person(World.running, reads=True),
    "PATCH /project": administers_something(
        lambda world: world.running({"name": unique("Shop")})
    ),
    "POST /projects": administers_something(
        lambda world: world.running({"name": "Another", "slug": unique("another")})
    ),
    "POST /evaluate/continue": stateless({"step_number": 1}),
    "POST /evaluate/command": stateless({"command": "ls"}),
    "POST /evaluate/tool": stateless({"tool": "Read"}),
    "POST /evaluate/edit": stateless({"file_path": "a", "content": "x"}),
    "POST /evaluate/multi-edit": stateless(
        {"file_path": "a", "original": "x", "edits": [{"old": "x", "new": "y"}]}
    ),
    "POST /evaluate/turn": stateless({"content": "Done."}),
    "POST /evaluate/verdict": stateless({"text": "GATE_REVIEW: FAIL - no"}),
    "POST /loop/signals": for_everybody(
        lambda world: world.told_of({"type": "system/note"})
    ),
    "POST /loop/notes": for_everybody(lambda world: world.told_of({"text": "n"})),
    "POST /loop/recommendations": for_everybody(
        lambda world: world.told_of({"title": "t", "change": {"set": {"checks": {}}}})
    ),
    "GET /loop/decisions": for_everybody(lambda world: world.looped, reads=True),
    "GET /loop/notes": for_everybody(lambda world: world.looped, reads=True),
    "GET /loop/recommendations": for_everybody(lambda world: world.looped, reads=True),
    "GET /loop/incidents": for_everybody(lambda world: world.looped, reads=True),
    "GET /loop/decisions/{decision_id}": in_project(
        lambda world: world.looped, reads=True
    ),
    "POST /loop/decisions/{decision_id}/outcome": in_project(
        lambda world: world.told_of({"outcome": "succeeded"})
    ),
    "POST /loop/notes/{note}/done": in_project(lambda world: world.told_of({})),
    "POST /loop/notes/{note}/failed": in_project(World.note_failed),
    "POST /loop/heartbeat": manages_something(lambda world: world.looped),
    "POST /loop/recommendations/{recommendation}/adopt": managers_only(
        World.recommended
    ),
    "POST /loop/recommendations/{recommendation}/dismiss": managers_only(
        World.recommended
    ),
    "POST /loop/incidents/{incident}/resolve": people_only(
        lambda world: world.told_of({})
    ),
    "GET /loop": Door(
        target=lambda world: world.looped,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "GET /loop/summary": Door(
        target=lambda world: world.looped,
        allowed={*MEMBERS, *SESSIONS, "outsider"},
        refused=dict.fromkeys(ANYBODY, 403),
    ),
    "POST /loop/switch": Door(
        target=lambda world: world.told_of({"paused": True}),
        allowed={*ACTING, "outsider", "session with token"},
        refused=dict.fromkeys({*ANYBODY, "auditor", "session"}, 403),
    ),
    "GET /agents": manages_something(World.running, reads=True),
    "POST /agents": administers_something(
        lambda world: world.running({"name": unique("made")})
    ),
    "PATCH /agents/{agent}": admins_only(
        lambda world: keep_agent(world, {"description": "Builds the shop"})
    ),
    "POST /agents/{agent}/keys": admins_only(
        lambda world: keep_agent(world, {"name": "ci"})
    ),
    "DELETE /agents/{agent}/keys/{key}": admins_only(keep_agent),
    "GET /policies/schema.json": Door(target=World.running, allowed=set(), refused={}),
    "GET /healthz": Door(target=World.running, allowed=set(), refused={}),
    "GET /readyz": Door(target=World.running, allowed=set(), refused={}),
    "GET /status": Door(target=World.running, allowed=set(), refused={}),
}


def _ids(target: Target) -> tuple[str, str]:
    return target.run, target.review
