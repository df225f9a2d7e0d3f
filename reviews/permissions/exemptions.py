"""Exemptions: made by a manager for a secret that blocked a call, and taken back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from common.errors import Invalid, NotFound, Unchanged
from common.ids import parse_code, uuid7
from guidance.core.secrets import get_fingerprint
from guidance.core.tools.exemptions import Exempted
from ledger.models import Entry
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from reviews.models import Exemption, ToolCall


def find_exemptions(
    *, project_id: int, fingerprints: Collection[str]
) -> dict[str, Exempted]:
    """Those of the fingerprints that are exempt in the project."""
    rows = Exemption.objects.filter(
        project_id=project_id, fingerprint__in=fingerprints, revoked_at=None
    ).values_list("fingerprint", "code", "made_by__username")
    return {mark: Exempted(code=str(code), by=by) for mark, code, by in rows}


def list_blocking_secrets(payload: Mapping[str, Any]) -> dict[str, str]:
    """The labels of the secrets that block the call of this entry, by fingerprint."""
    labels = [
        finding["details"].get("redacted", "")
        for finding in payload["findings"]
        if finding["gate"] == "secrets" and finding["decision"] == "block"
    ]
    return {mark: label for label in labels if (mark := get_fingerprint(label))}


def get_judged_payload(call: ToolCall) -> dict[str, Any]:
    """What was said of the call when it was judged."""
    entry = Entry.objects.get(run_id=call.run_id, seq=call.seq)
    payload: dict[str, Any] = json.loads(entry.payload)
    return payload


@dataclass(kw_only=True)
class MakeExemption(ChangeRequest[None]):
    """Noted in the run whose call was blocked."""

    call: ToolCall
    fingerprint: str
    label: str
    reason: str
    person: PersonPrincipal
    code: str = field(default_factory=lambda: str(uuid7()))
    exempt: bool = field(default=False, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        found = find_exemptions(
            project_id=run.project_id, fingerprints=[self.fingerprint]
        )
        self.exempt = bool(found)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        if self.exempt:
            raise Unchanged("It is marked as no secret already.")
        plan = Plan(run, at)
        told = {
            "fingerprint": self.fingerprint,
            "label": self.label,
            "reason": self.reason,
        }
        plan.add_entry(
            "exemption.made",
            actor=self.person.actor,
            payload={"exemption": self.code, "call": str(self.call.code), **told},
        )
        plan.rows.append(
            Exemption(
                code=self.code,
                project_id=run.project_id,
                run_id=run.id,
                call_id=self.call.code,
                made_by_id=self.person.user_id,
                made_at=at,
                **told,
            )
        )
        return plan.change(_return_nothing)


@dataclass(kw_only=True)
class RevokeExemption(ChangeRequest[None]):
    """Noted in the same run."""

    exemption: Exemption
    person: PersonPrincipal

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        plan = Plan(run, at)
        plan.add_entry(
            "exemption.revoked",
            actor=self.person.actor,
            payload={
                "exemption": str(self.exemption.code),
                "label": self.exemption.label,
            },
        )
        rows = Exemption.objects.filter(pk=self.exemption.pk, revoked_at__isnull=True)
        plan.side_updates.append(
            partial(rows.update, revoked_at=at, revoked_by_id=self.person.user_id)
        )
        return plan.change(_return_nothing)


def _return_nothing(_entries: Iterable[SealedEntry]) -> None:
    return None


def submit_exemption(
    *, person: PersonPrincipal, call_code: str, fingerprint: str, reason: str
) -> Exemption:
    """Only for a secret that has blocked a call: nothing is exempt in advance."""
    known = parse_code(call_code)
    mine = ToolCall.objects.filter(project__membership__user_id=person.user_id)
    call = mine.select_related("run").filter(code=known).first() if known else None
    if call is None:
        raise NotFound
    require_role(user_id=person.user_id, project_id=call.project_id, role=Role.MANAGER)
    label = list_blocking_secrets(get_judged_payload(call)).get(fingerprint)
    if label is None:
        raise Invalid(
            "No secret with this fingerprint blocked the call.",
            errors=[{"loc": ["fingerprint"], "message": "not in this call"}],
        )
    request = MakeExemption(
        run_code=str(call.run.code),
        call=call,
        fingerprint=fingerprint,
        label=label,
        reason=reason,
        person=person,
    )
    get_writer().perform_now(request)
    return get_visible_exemption(person, request.code)


def get_visible_exemption(person: PersonPrincipal, code: str) -> Exemption:
    known = parse_code(code)
    rows = Exemption.objects.select_related("run", "project", "made_by", "revoked_by")
    row = (
        rows.filter(code=known, project__membership__user_id=person.user_id).first()
        if known
        else None
    )
    if row is None:
        raise NotFound
    return row


def submit_exemption_revocation(*, person: PersonPrincipal, code: str) -> Exemption:
    """Any reviewer may: it only means that such a call is blocked again."""
    exemption = get_visible_exemption(person, code)
    require_role(
        user_id=person.user_id, project_id=exemption.project_id, role=Role.REVIEWER
    )
    if exemption.revoked_at is None:
        get_writer().perform_now(
            RevokeExemption(
                run_code=str(exemption.run.code), exemption=exemption, person=person
            )
        )
    return get_visible_exemption(person, code)
