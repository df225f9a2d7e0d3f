"""Standing permissions: found for a call, used once more, made and taken back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from common.errors import Invalid, NotFound
from common.ids import parse_code, uuid7
from guidance.core.tools.calls import Call
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict
from guidance.core.tools.permission_shapes import (
    build_exact_text,
    build_permission_key,
    build_shape_text,
)
from ledger.chain import format_timestamp
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from reviews.errors import PermissionGone
from reviews.models import Permission, Review, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of a permission, as it is judged and then written down."""

    permission_id: int
    code: str
    by: str
    number: int
    expires_at: datetime

    @classmethod
    def from_row(cls, row: Permission, *, verdict: CallVerdict, at: datetime) -> Use:
        if get_permission_state(row, at=at) != "standing":
            raise PermissionGone("The permission has ended.")
        if not answers(row, verdict.findings):
            raise PermissionGone("Somebody else has to be asked about this rule.")
        return cls(
            permission_id=row.pk,
            code=str(row.code),
            by=row.granted_by.username,
            number=row.used + 1,
            expires_at=row.expires_at,
        )

    def to_json(self) -> dict[str, Any]:
        return {"id": self.code, "by": self.by, "use": self.number}

    def allow_call(self, verdict: CallVerdict) -> CallVerdict:
        """Every finding stays; what a person was to say has been said before."""
        permitted = CallFinding(
            gate="permission",
            decision="allow",
            message=(
                f"Let through by {self.by}'s standing permission, use {self.number}"
            ),
            details={
                "permission": self.code,
                "until": format_timestamp(self.expires_at),
            },
        )
        return replace(
            verdict, decision="allow", findings=(*verdict.findings, permitted)
        )

    def store(self, at: datetime) -> None:
        Permission.objects.filter(pk=self.permission_id).update(
            uses_left=F("uses_left") - 1, used=F("used") + 1, last_used_at=at
        )


def get_permission(permission_id: int) -> Permission:
    """Under the project's lock nobody else uses or revokes it meanwhile."""
    return Permission.objects.select_related("granted_by").get(pk=permission_id)


def filter_standing(*, at: datetime) -> Q:
    """Those that still let something through."""
    return Q(revoked_at__isnull=True, uses_left__gt=0, expires_at__gt=at)


def get_permission_state(row: Permission, *, at: datetime) -> str:
    if row.revoked_at is not None:
        return "revoked"
    if row.uses_left < 1:
        return "used up"
    return "standing" if at < row.expires_at else "expired"


def list_asking_rules(findings: Iterable[CallFinding]) -> set[str]:
    """The rules that a person is asked about."""
    return {
        str(finding.details["rule"])
        for finding in findings
        if finding.decision == "require-confirmation" and "rule" in finding.details
    }


def answers(row: Permission, findings: Iterable[CallFinding]) -> bool:
    """Whether its giver was asked about all these rules: another policy has others."""
    return list_asking_rules(findings) <= set(json.loads(row.rules))


def find_permission(*, project_id: int, verdict: CallVerdict) -> int | None:
    """The permission that covers this call, the one for the exact call first."""
    call = verdict.call
    covered = Q(scope=Scope.EXACT, key=build_permission_key(build_exact_text(call)))
    shape = build_shape_text(call)
    if shape is not None:
        covered |= Q(scope=Scope.SHAPE, key=build_permission_key(shape))
    rows = Permission.objects.filter(
        filter_standing(at=timezone.now()), covered, project_id=project_id
    ).order_by("scope", "-expires_at")
    return next((row.pk for row in rows if answers(row, verdict.findings)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPermission:
    """A permission on paper: into the ruling's entry first, then into its row."""

    code: str
    scope: str
    covers: str
    tool: str
    rules: tuple[str, ...]
    expires_at: datetime
    uses: int

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.code,
            "scope": self.scope,
            "covers": self.covers,
            "rules": list(self.rules),
            "expires_at": format_timestamp(self.expires_at),
            "uses": self.uses,
        }

    def build_row(self, review: Review, *, person_id: int, at: datetime) -> Permission:
        return Permission(
            code=self.code,
            project_id=review.project_id,
            run_id=review.run_id,
            review=review,
            scope=self.scope,
            tool=self.tool[:200],  # as the call itself has it
            key=build_permission_key(self.covers),
            covers=self.covers,
            rules=json.dumps(self.rules),
            granted_by_id=person_id,
            granted_at=at,
            expires_at=self.expires_at,
            uses_left=self.uses,
        )


def build_permission(
    call: Call,
    *,
    scope: str,
    findings: Iterable[CallFinding],
    hours: int,
    uses: int,
    at: datetime,
) -> NewPermission:
    covers = build_exact_text(call) if scope == Scope.EXACT else build_shape_text(call)
    if covers is None:
        raise Invalid(
            "A call of this kind can only be permitted exactly as it is.",
            errors=[{"loc": ["remember", "scope"], "message": "only exact"}],
        )
    return NewPermission(
        code=str(uuid7()),
        scope=scope,
        covers=covers,
        tool=call.tool,
        rules=tuple(sorted(list_asking_rules(findings))),
        expires_at=at + timedelta(hours=hours),
        uses=uses,
    )


@dataclass(kw_only=True)
class RevokePermission(ChangeRequest[None]):
    """Noted in the run whose review made it: that is where people look for it."""

    permission: Permission
    person: PersonPrincipal

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        plan = Plan(run, at)
        plan.add_entry(
            "permission.revoked",
            actor=self.person.actor,
            payload={"permission": str(self.permission.code)},
        )
        rows = Permission.objects.filter(pk=self.permission.pk, revoked_at__isnull=True)
        plan.side_updates.append(
            partial(rows.update, revoked_at=at, revoked_by_id=self.person.user_id)
        )
        return plan.change(_return_nothing)


def _return_nothing(_entries: Iterable[SealedEntry]) -> None:
    return None


def get_visible_permission(person: PersonPrincipal, code: str) -> Permission:
    known = parse_code(code)
    rows = Permission.objects.select_related(
        "run", "project", "review", "granted_by", "revoked_by"
    )
    row = (
        rows.filter(code=known, project__membership__user_id=person.user_id).first()
        if known
        else None
    )
    if row is None:
        raise NotFound
    return row


def submit_revocation(*, person: PersonPrincipal, code: str) -> Permission:
    """Taking back twice is taking back."""
    permission = get_visible_permission(person, code)
    require_role(
        user_id=person.user_id, project_id=permission.project_id, role=Role.REVIEWER
    )
    if permission.revoked_at is None:
        run_code = str(permission.run.code)
        get_writer().perform_now(
            RevokePermission(run_code=run_code, permission=permission, person=person)
        )
    return get_visible_permission(person, code)
