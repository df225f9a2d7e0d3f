"""The matrix: of each operation who may use it, and what everybody else is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.config.authorisation import halts, people
from tests.config.authorisation.agents import keep_agent
from tests.config.authorisation.target import Target
from tests.config.authorisation.world import HOOK, World
from tests.support.builders import step, unique

ANYBODY = {"own agent", "other agent", "foreign agent"}
ACTING = {"reviewer", "manager", "admin"}
MEMBERS = {"auditor", *ACTING}
SESSIONS = {"session", "session with token"}
# Asked only where no token opens the door.
ADMIN_SESSION = "admin's session with token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Who gets in, and what everybody else is told."""

    target: Callable[[World], Target]
    allowed: set[str]
    refused: dict[str, int]


def agents_only(target: Callable[[World], Target]) -> Door:
    refused = dict.fromkeys({*MEMBERS, "outsider"}, 403)
    refused |= {"other agent": 404, "foreign agent": 404}
    refused |= {"session": 401, "session with token": 401}
    return Door(target=target, allowed={"own agent"}, refused=refused)


def readers(target: Callable[[World], Target], *, session: bool = True) -> Door:
    sessions = {"session", "session with token"}
    refused = {"other agent": 404, "foreign agent": 404, "outsider": 404}
    if not session:
        refused |= dict.fromkeys(sessions, 401)
    allowed = {"own agent", *MEMBERS} | (sessions if session else set())
    return Door(target=target, allowed=allowed, refused=refused)


def people_only(target: Callable[[World], Target], *, reads: bool = False) -> Door:
    """Auditors read, and change nothing."""
    refused = dict.fromkeys(ANYBODY, 403) | {"outsider": 404}
    allowed = {*ACTING, "session with token"}
    if reads:
        allowed |= {"session", "auditor"}
    else:
        refused |= {"session": 403, "auditor": 403}
    return Door(target=target, allowed=allowed, refused=refused)


def managers_only(target: Callable[[World], Target], *, reads: bool = False) -> Door:
    """Auditors see what managers see."""
    refused = dict.fromkeys({*ANYBODY, "auditor", "reviewer", "session"}, 403)
    refused |= {"outsider": 404, "session with token": 403}
    allowed = {"manager", "admin"}
    if reads:
        allowed.add("auditor")
        del refused["auditor"]
    return Door(target=target, allowed=allowed, refused=refused)


def admins_only(target: Callable[[World], Target]) -> Door:
    refused = dict.fromkeys(
        {*ANYBODY, "auditor", "reviewer", "manager", *SESSIONS}, 403
    )
    return Door(target=target, allowed={"admin"}, refused=refused | {"outsider": 404})


def signed_in_admins_only(target: Callable[[World], Target]) -> Door:
    """Tokens do not open it."""
    refused = admins_only(target).refused | {"admin": 403}
    return Door(target=target, allowed={ADMIN_SESSION}, refused=refused)


def manages_something(
    target: Callable[[World], Target], *, reads: bool = False
) -> Door:
    """The outsider manages a project too: in there, not in here."""
    allowed = {"manager", "admin", "outsider"} | ({"auditor"} if reads else set())
    others = {*ANYBODY, "auditor", "reviewer", *SESSIONS} - allowed
    return Door(target=target, allowed=allowed, refused=dict.fromkeys(others, 403))


def administers_something(target: Callable[[World], Target]) -> Door:
    """The outsider is admin of a project too: in there, not in here."""
    others = {*ANYBODY, "auditor", "reviewer", "manager", *SESSIONS}
    return Door(
        target=target,
        allowed={"admin", "outsider"},
        refused=dict.fromkeys(others, 403),
    )


def every_person(target: Callable[[World], Target], *, reads: bool = False) -> Door:
    """Each in a project of their own, auditors too."""
    refused = dict.fromkeys(ANYBODY, 403) | ({} if reads else {"session": 403})
    allowed = {*MEMBERS, "outsider", *SESSIONS} - set(refused)
    return Door(target=target, allowed=allowed, refused=refused)


def in_project(target: Callable[[World], Target], *, reads: bool = False) -> Door:
    """For everybody of the project, agents and people alike."""
    refused = {"foreign agent": 404, "outsider": 404}
    allowed = {"own agent", "other agent", *ACTING, "session with token"}
    if reads:
        allowed |= {"session", "auditor"}
    else:
        refused |= {"session": 403, "auditor": 403}
    return Door(target=target, allowed=allowed, refused=refused)


def for_everybody(target: Callable[[World], Target], *, reads: bool = False) -> Door:
    """Each in a project of their own."""
    others = set() if reads else {"session", "auditor"}
    return Door(
        target=target,
        allowed=(EVERYBODY | SESSIONS) - others,
        refused=dict.fromkeys(others, 403),
    )


EVERYBODY = {*ANYBODY, *MEMBERS, "outsider"}


def stateless(body: Any) -> Door:
    return Door(
        target=lambda world: world.running(body),
        allowed=EVERYBODY,
        refused=dict.fromkeys(SESSIONS, 401),
    )


DOORS: dict[str, Door] = {
    "POST /runs": Door(
        target=lambda world: world.running({"task": "t"}),
        allowed=ANYBODY,
        refused=dict.fromkeys({*MEMBERS, "outsider"}, 403)
        | dict.fromkeys(SESSIONS, 401),
    ),
    "GET /runs": Door(target=World.running, allowed=EVERYBODY | SESSIONS, refused={}),
    "GET /runs.csv": Door(
        target=World.running, allowed=EVERYBODY | SESSIONS, refused={}
    ),
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
}


def _ids(target: Target) -> tuple[str, str]:
    return target.run, target.review
