"""Halt everything of a scope, and release it: each one entry in the project's chain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from accounts.auth import PersonPrincipal
from accounts.models import Agent, Role
from accounts.selectors import require_role
from common.errors import Invalid, Unchanged
from common.ids import uuid7
from ledger.models import Halt
from reviews.administration.chain import (
    AuditEntry,
    Perform,
    PreparedChange,
    perform_change,
)
from reviews.halts.deadlines import HINTS
from reviews.halts.schemas import HaltScopeIn, serialize_scope
from reviews.halts.selectors import (
    RELATED,
    get_visible_halt,
    list_standing_halts,
)
from reviews.selectors import get_visible_run


def submit_halt(
    *,
    person: PersonPrincipal,
    project_id: int,
    scope: HaltScopeIn,
    reason: str,
    perform: Perform | None = None,
) -> Halt:
    """From its commit on nothing of the scope is stored that obeys halts."""
    require_role(user_id=person.user_id, project_id=project_id, role=Role.REVIEWER)
    wanted = build_halt(scope, project_id=project_id, person=person, reason=reason)

    def prepare() -> PreparedChange[Halt]:
        _refuse_repeated(wanted)

        def store(at: datetime) -> Halt:
            wanted.at = at
            wanted.save()
            return wanted

        return PreparedChange(
            entries=[_build_start(wanted, person)], store=store, changes_halts=True
        )

    return perform_change(
        project_id=project_id, by=person, prepare=prepare, perform=perform
    )


def submit_release(
    *,
    person: PersonPrincipal,
    code: str,
    reason: str,
    keep: Sequence[HaltScopeIn] = (),
    perform: Perform | None = None,
) -> Halt:
    """What is kept is halted in the same commit by halts of its own."""
    found = get_visible_halt(user_id=person.user_id, code=code)
    project_id = found.project_id
    require_role(user_id=person.user_id, project_id=project_id, role=Role.MANAGER)
    kept = [
        build_halt(scope, project_id=project_id, person=person, reason=found.reason)
        for scope in keep
    ]

    def prepare() -> PreparedChange[Halt]:
        halt = Halt.objects.select_related(*RELATED).get(pk=found.pk)
        if halt.released_at is not None:
            raise Unchanged("It was released already.")
        for each in kept:
            _refuse_repeated(each)

        def store(at: datetime) -> Halt:
            for each in kept:
                each.at = at
                each.save()
            halt.released_by_id = person.user_id
            halt.released_at = at
            halt.release_reason = reason
            halt.save()
            return halt

        starts = [_build_start(each, person) for each in kept]
        released = {
            "halt": str(halt.code),
            "scope": serialize_scope(halt),
            "reason": reason,
            "by": person.username,
            "kept": [str(each.code) for each in kept],
        }
        return PreparedChange(
            entries=[*starts, AuditEntry("halt.released", released)],
            store=store,
            changes_halts=True,
        )

    perform_change(project_id=project_id, by=person, prepare=prepare, perform=perform)
    HINTS.send(project_id)
    return get_visible_halt(user_id=person.user_id, code=code)


def build_halt(
    scope: HaltScopeIn, *, project_id: int, person: PersonPrincipal, reason: str
) -> Halt:
    """The row before it is stored."""
    run = None
    if scope.run is not None:
        run = get_visible_run(user_id=person.user_id, code=scope.run)
        if run.project_id != project_id:
            raise _build_scope_error("run", "not a run of this project")
    return Halt(
        code=uuid7(),
        project_id=project_id,
        agent=_find_agent(scope.agent, project_id=project_id),
        label=scope.label or "",
        run=run,
        children=scope.children,
        reason=reason,
        by_id=person.user_id,
    )


def _find_agent(name: str | None, *, project_id: int) -> Agent | None:
    if name is None:
        return None
    agent = Agent.objects.filter(project_id=project_id, name=name).first()
    if agent is None:
        raise _build_scope_error("agent", "not an agent of this project")
    return agent


def _build_scope_error(field: str, message: str) -> Invalid:
    errors = [{"loc": ["body", "scope", field], "message": message}]
    return Invalid(f"{field}: {message}.", errors=errors)


def _refuse_repeated(wanted: Halt) -> None:
    same = list_standing_halts(project_id=wanted.project_id).filter(
        agent=wanted.agent, label=wanted.label, run=wanted.run, children=wanted.children
    )
    for halt in same:
        raise Unchanged(
            f"This is halted already, by {halt.by.username}.", standing=str(halt.code)
        )


def _build_start(halt: Halt, person: PersonPrincipal) -> AuditEntry:
    payload: dict[str, Any] = {
        "halt": str(halt.code),
        "scope": serialize_scope(halt),
        "reason": halt.reason,
        "by": person.username,
    }
    return AuditEntry("halt.started", payload)
