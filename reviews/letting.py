"""What an approval lets run: the call as shown, or as a person changed it.

A changed call is judged again before it is granted: a person may let through what the
gates only ask about, and never what they block.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model
from pydantic import ValidationError

from accounts.errors import Invalid
from guidance.core.canonical import canonical
from guidance.core.tools.calls import Call, CommandCall, call_digest, call_from
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judging import CallVerdict, judge_call
from guidance.core.tools.shapes import permittable
from guidance.redactor import fingerprint_key
from guidance.selectors import LoadedPolicy, policy_by_id
from reviews.call_schemas import CommandBody, EditBody, ToolBody
from reviews.grants import NewGrant, grant_for
from reviews.models import Kind, Review
from reviews.permissions import NewPermission, new_permission
from reviews.schemas import RememberIn

_BODIES: dict[str, type[CommandBody | ToolBody | EditBody]] = {
    "command": CommandBody,
    "tool": ToolBody,
    "edit": EditBody,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Let:
    """The grant that is given at one moment, and the permission that goes with it."""

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

    def rows(self, review: Review, *, person_id: int) -> list[Model]:
        call_code = str(review.call.code)
        rows: list[Model] = [self.grant.row(call_code=call_code, run_id=review.run_id)]
        if self.permission is not None:
            at = self.grant.issued_at
            rows.append(self.permission.row(review, person_id=person_id, at=at))
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Letting:
    digest: str
    policy: LoadedPolicy
    call: Call | None
    findings: tuple[CallFinding, ...]
    amended: dict[str, Any] | None = None
    remember: RememberIn | None = None

    @property
    def amended_text(self) -> str | None:
        return None if self.amended is None else canonical(self.amended)

    def run_at(self, at: datetime) -> Let:
        return Let(
            grant=grant_for(self.digest, policy=self.policy, at=at),
            amended=self.amended,
            findings=[f.to_json() for f in self.findings] if self.amended else [],
            permission=self._permission(at),
        )

    def _permission(self, at: datetime) -> NewPermission | None:
        if self.remember is None or self.call is None:
            return None
        return new_permission(
            self.call,
            scope=self.remember.scope,
            findings=self.findings,
            hours=self.remember.hours,
            uses=self.remember.uses,
            at=at,
        )


def letting_of(
    review: Review,
    *,
    action: str,
    amended: dict[str, Any] | None,
    remember: RememberIn | None,
) -> Letting | None:
    """What this ruling would let run; None where it lets nothing."""
    lets = review.kind == Kind.CONFIRMATION and action in {"approve", "amend"}
    _refuse_if(amended is not None and action != "amend", "amended", "only with amend")
    _refuse_if(
        remember is not None and not lets, "remember", "only when a call may run"
    )
    if not lets:
        return None
    content = json.loads(review.content)
    policy = policy_by_id(review.run.policy_id)
    if action == "approve":
        letting = Letting(
            digest=review.call.digest,
            policy=policy,
            call=_call_of(content),
            findings=tuple(map(CallFinding.from_json, content["findings"])),
            remember=remember,
        )
    else:
        letting = _amended(review, content, amended, policy, remember)
    asks_always = remember and not permittable(
        letting.findings, always_ask=policy.policy.tools.always_ask
    )
    _refuse_if(
        bool(asks_always or (remember and letting.call is None)),
        "remember",
        "the policy asks about such a call every time",
    )
    return letting


def _amended(
    review: Review,
    content: dict[str, Any],
    amended: dict[str, Any] | None,
    policy: LoadedPolicy,
    remember: RememberIn | None,
) -> Letting:
    _refuse_if(not amended, "amended", "say what is to run instead")
    before = _call_of(content)
    if before is None or before.kind not in _BODIES:
        raise Invalid(
            "A call of this kind cannot be amended: deny it, and say what to change."
        )
    call = _changed(before, amended or {})
    verdict = judge_call(
        rules=policy.policy.tools, call=call, fingerprint_key=fingerprint_key()
    )
    _refuse_blocked(verdict)
    digest = call_digest(verdict.call, run=str(review.run.code), key=None)
    return Letting(
        digest=digest,
        policy=policy,
        call=verdict.call,
        findings=verdict.findings,
        amended={**verdict.shown, "digest": digest},
        remember=remember,
    )


def _call_of(content: dict[str, Any]) -> Call | None:
    return call_from(
        kind=content["call_kind"], tool=content["tool"], shown=content["shown"]
    )


def _changed(before: Call, amended: dict[str, Any]) -> Call:
    """The call with the changed parts, read as strictly as an agent's own."""
    # The tool last: what a person saw is a call of this tool, whatever they make of it.
    fields = {**before.shown(), **amended}
    _refuse_if("tool" in amended, "amended.tool", "the tool stays the same")
    fields["tool"] = before.tool
    if "content" in amended:
        fields["diff_lines"] = amended.get("diff_lines")
    if "command" in amended and "arguments" not in amended:
        fields["arguments"] = _with_command(before, amended["command"])
    try:
        return _BODIES[before.kind].model_validate(fields).call()
    except ValidationError as error:
        raise Invalid(
            "The amended call is not acceptable.",
            errors=[
                {"loc": ["amended", *e["loc"]], "message": e["msg"]}
                for e in error.errors(include_input=False, include_url=False)
            ],
        ) from None


def _with_command(before: Call, command: object) -> dict[str, Any] | None:
    """The tool may receive the command among its arguments: both are one text."""
    if not isinstance(before, CommandCall) or before.arguments is None:
        return None
    changed = {"command": command} if "command" in before.arguments else {}
    return {**before.arguments, **changed}


def _refuse_blocked(verdict: CallVerdict) -> None:
    if verdict.decision != "block":
        return
    raise Invalid(
        "The amended call is blocked by the gates: nothing was granted.",
        errors=[
            {"loc": ["amended"], "message": f"{finding.gate}: {finding.message}"}
            for finding in verdict.findings
            if finding.decision == "block"
        ],
    )


def _refuse_if(wrong: bool, field: str, message: str) -> None:
    if wrong:
        raise Invalid(
            f"{field}: {message}.", errors=[{"loc": [field], "message": message}]
        )
