"""What an approval lets run: the call as shown, or as a person changed it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model

from common.errors import Invalid
from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import read_as_stored
from guidance.core.tools.calls import Call
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.permission_shapes import is_permittable
from guidance.selectors import LoadedPolicy, get_policy
from ledger.plan import NewRow
from reviews.models import Kind, Review, ReviewApproval
from reviews.permissions.grants import NewGrant, build_grant
from reviews.permissions.standing import NewPermission, build_permission
from reviews.rulings.amendments import (
    Amendment,
    get_call,
    judge_amendment,
    refuse_blocked,
)
from reviews.rulings.four_eyes import find_amendment
from reviews.schemas.reviews import RememberIn


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedCall:
    """The grant that is given at one moment, and the permission that goes with it."""

    call_code: str
    grant: NewGrant
    amended: dict[str, Any] | None
    findings: list[dict[str, Any]]
    permission: NewPermission | None

    def to_json(self) -> dict[str, Any]:
        return {
            "grant": self.grant.to_json(),
            "amended": self.amended,
            "amended_findings": self.findings,
            "permission": self.permission.to_json() if self.permission else None,
        }

    def build_rows(self, review: Review, *, person_id: int) -> list[Model | NewRow]:
        grant = self.grant.build_row(call_code=self.call_code, run_id=review.run_id)
        rows: list[Model | NewRow] = [grant]
        if self.permission is not None:
            at = self.grant.issued_at
            rows.append(self.permission.build_row(review, person_id=person_id, at=at))
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A call that a ruling approves: the agent's own, or an amended one."""

    call_code: str
    digest: str
    policy: LoadedPolicy
    call: Call | None
    findings: tuple[CallFinding, ...]
    amendment: Amendment | None = None
    amended: dict[str, Any] | None = None
    remember: RememberIn | None = None

    @property
    def amended_text(self) -> str | None:
        return (
            None
            if self.amended is None
            else to_canonical_json(read_as_stored(self.amended))
        )

    def grant_at(self, at: datetime) -> GrantedCall:
        return GrantedCall(
            call_code=self.call_code,
            grant=build_grant(self.digest, policy=self.policy, at=at),
            amended=self.amended,
            findings=[f.to_json() for f in self.findings] if self.amended else [],
            permission=self._build_permission(at),
        )

    def _build_permission(self, at: datetime) -> NewPermission | None:
        if self.remember is None or self.call is None:
            return None
        return build_permission(
            self.call,
            scope=self.remember.scope,
            findings=self.findings,
            hours=self.remember.hours,
            uses=self.remember.uses,
            at=at,
        )


def build_approval(
    review: Review,
    *,
    action: str,
    amended: dict[str, Any] | None,
    remember: RememberIn | None,
) -> Approval | None:
    """The approval in this ruling; None if it approves no call."""
    approves = review.kind == Kind.CONFIRMATION and action in {"approve", "amend"}
    _refuse_if(amended is not None and action != "amend", "amended", "only with amend")
    _refuse_if(
        remember is not None and not approves, "remember", "only when a call may run"
    )
    if not approves:
        return None
    _refuse_if(
        remember is not None and review.approvals_needed > 1,
        "remember",
        "what takes several people is asked about every time",
    )
    content = json.loads(review.content)
    policy = get_policy(review.run.policy_id)
    changed = find_amendment(review) if action == "approve" else None
    if changed is not None:
        return _approve_changed(review, changed, policy)
    if action == "approve":
        approval = Approval(
            call_code=str(review.call.code),
            digest=review.call.digest,
            policy=policy,
            call=get_call(content),
            findings=tuple(map(CallFinding.from_json, content["findings"])),
            remember=remember,
        )
    else:
        approval = _approve_amended(review, content, amended, policy, remember)
    asks_always = remember and not is_permittable(
        approval.findings, always_ask=policy.policy.tools.always_ask
    )
    # Of several edits the text is not kept that they were judged on.
    unknown = approval.call is None or approval.call.kind == "multi_edit"
    _refuse_if(
        bool(asks_always or (remember and unknown)),
        "remember",
        "the policy asks about such a call every time",
    )
    return approval


def _approve_changed(
    review: Review, changed: ReviewApproval, policy: LoadedPolicy
) -> Approval:
    """The call as somebody else has changed it; the gates have judged that already."""
    amended = json.loads(changed.amended or "{}")
    return Approval(
        call_code=str(review.call.code),
        digest=amended["digest"],
        policy=policy,
        call=None,
        findings=tuple(map(CallFinding.from_json, json.loads(changed.findings))),
        amended=amended,
    )


def _approve_amended(
    review: Review,
    content: dict[str, Any],
    amended: dict[str, Any] | None,
    policy: LoadedPolicy,
    remember: RememberIn | None,
) -> Approval:
    _refuse_if(not amended, "amended", "say what is to run instead")
    amendment = judge_amendment(review, content, amended or {})
    refuse_blocked(amendment)
    verdict = amendment.verdict
    return Approval(
        call_code=str(review.call.code),
        digest=amendment.digest,
        policy=policy,
        call=verdict.call,
        findings=verdict.findings,
        amendment=amendment,
        amended={**verdict.shown, "digest": amendment.digest},
        remember=remember,
    )


def _refuse_if(wrong: bool, field: str, message: str) -> None:
    if wrong:
        raise Invalid(
            f"{field}: {message}.", errors=[{"loc": [field], "message": message}]
        )
