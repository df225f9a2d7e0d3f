"""Who may use an operation, and what everybody else is told: one rule each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.config.authorisation.target import Target
from tests.config.authorisation.world import World

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
