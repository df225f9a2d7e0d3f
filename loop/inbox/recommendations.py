"""Recommendations: received, drafted by the loop, adopted or dismissed by a person."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from accounts.auth import PersonPrincipal, Principal
from accounts.models import Role
from accounts.selectors import require_role
from common.errors import Invalid, PreconditionRequired, StaleVersion, Unchanged
from common.ids import uuid7
from common.responses import Reply, build_reply
from guidance.core.canonical import to_canonical_json
from guidance.core.loop.vocabulary import EVENT
from guidance.core.policy.caps import CapReached
from guidance.models import PolicyVersion
from guidance.services import DEFAULT, get_policy_in_force
from ledger.chain import format_timestamp
from ledger.idempotency import Idempotency
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from loop.cycle.drafting import build_draft
from loop.errors import LoopPaused
from loop.inbox.caps import find_reached_cap
from loop.models import OPEN, ProjectLoop, Recommendation, RecommendationState
from loop.runs import perform, refuse_closed_run
from loop.serializers import serialize_recommendation
from reviews.caps import refuse_at_cap
from reviews.policies.services import create_version


@dataclass(kw_only=True)
class AddRecommendation(ChangeRequest[Reply]):
    """Only the loop's own lessons have a `key` and `evidence`."""

    actor: str
    title: str
    detail: str
    change: Mapping[str, Any]
    draft: Mapping[str, Any]
    key: str = ""
    evidence: Mapping[str, Any] | None = None
    row_code: str = field(default_factory=lambda: str(uuid7()))
    reached_cap: CapReached | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        if self.key:
            return  # each of the loop's own lessons is open once in any case
        self.reached_cap = find_reached_cap(
            run,
            "recommendations",
            open_rows=Recommendation.objects.filter(state__in=OPEN),
            actor=self.actor,
        )

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        refuse_closed_run(run)
        refuse_at_cap(
            self.reached_cap,
            what="open recommendations",
            instead="A manager has to adopt or dismiss some of them first.",
        )
        plan = Plan(run, at)
        row = Recommendation(
            code=self.row_code,
            project_id=run.project_id,
            title=self.title,
            detail=self.detail,
            change=to_canonical_json(self.change),
            draft=json.dumps(self.draft, ensure_ascii=False),
            actor=self.actor,
            key=self.key,
            evidence=to_canonical_json(self.evidence),
            created_at=at,
        )
        _add_entry(plan, row, RecommendationState.PENDING, actor=self.actor)
        plan.rows.append(row)
        return plan.change(partial(self._answer, row))

    def _answer(self, row: Recommendation, _entries: Sequence[SealedEntry]) -> Reply:
        return build_reply(serialize_recommendation(row), status=201)


def _add_entry(
    plan: Plan, row: Recommendation, state: RecommendationState, *, actor: str
) -> None:
    plan.add_entry(
        "loop.recommended",
        actor=actor,
        payload={
            "recommendation": str(row.code),
            "state": str(state),
            "text": row.title,
            "change": json.loads(row.change),
            "evidence": json.loads(row.evidence),
        },
    )


def add_recommendation(
    *,
    project_id: int,
    principal: Principal,
    title: str,
    detail: str,
    change: Mapping[str, Any],
    idempotency: Idempotency | None = None,
) -> Reply:
    """Raises Invalid if it could not be adopted under the current policy."""
    get_policy_in_force(project_id=project_id, name=DEFAULT)  # made where it is missing
    draft = build_draft(change, project_id=project_id)
    problem = draft["problem"]
    if problem is not None:
        raise Invalid(
            f"change: {problem}.", errors=[{"loc": ["change"], "message": problem}]
        )
    return perform(
        project_id,
        lambda run: AddRecommendation(
            run_code=run,
            actor=principal.actor,
            title=title,
            detail=detail,
            change=change,
            draft=draft,
            idempotency=idempotency,
        ),
    )


@dataclass(kw_only=True)
class EndRecommendation(ChangeRequest[None]):
    """Adopts or dismisses it. Adopting one starts the loop, or is said of the version of
    a policy that was stored for it: `version`, made from `draft`."""

    row: Recommendation
    person: PersonPrincipal
    adopt: bool
    draft: Mapping[str, Any]
    version: PolicyVersion | None = None
    paused: str | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.row = Recommendation.objects.get(pk=self.row.pk)
        project_id = self.row.project_id
        loop = ProjectLoop.objects.select_related("paused_by").get(pk=project_id)
        self.paused = loop.describe_pause()

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        refuse_closed_run(run)
        row = self.row
        _refuse_ended(row)
        plan = Plan(run, at)
        values: dict[str, Any] = {"state": RecommendationState.DISMISSED}
        if self.adopt:
            values["state"] = RecommendationState.ADOPTED
            if "kind" in self.draft:
                self._emit(plan, row)
            if self.version is not None:
                values["adopted_as"] = self.version
                values["draft"] = json.dumps(self.draft, ensure_ascii=False)
        _add_entry(plan, row, values["state"], actor=self.person.actor)
        values |= {"ended_at": at, "ended_by_id": self.person.user_id}
        rows = Recommendation.objects.filter(pk=row.pk)
        plan.side_updates.append(partial(rows.update, **values))
        return plan.change()

    def _emit(self, plan: Plan, row: Recommendation) -> None:
        if self.paused is not None:
            raise LoopPaused(f"The loop is {self.paused}. Resume it first.")
        event = {
            "type": EVENT,
            "action": "start_loop",
            "kind": self.draft["kind"],
            "parameters": self.draft["parameters"],
            "decision_id": str(row.decision_id) if row.decision_id else None,
            "reasoning_summary": f"{self.person.username} adopted: {row.title}",
            "state_hash": None,
            "trigger_source": "manual",
            "at": format_timestamp(plan.at),
        }
        payload = {"decision": event["decision_id"], "event": event}
        plan.add_entry("loop.emitted", actor=self.person.actor, payload=payload)


def end_recommendation(
    *,
    row: Recommendation,
    person: PersonPrincipal,
    adopt: bool,
    based_on: int | None = None,
) -> Recommendation:
    """Requires a manager, since a policy affects the whole project.

    `based_on` is the policy version whose difference the person has seen. A change of a
    policy becomes a version that is not in force: a person activates it.
    """
    require_role(user_id=person.user_id, project_id=row.project_id, role=Role.MANAGER)
    _refuse_ended(row)
    draft = build_draft(json.loads(row.change), project_id=row.project_id)
    version = None
    if adopt:
        _refuse_unadoptable(draft, based_on=based_on)
        if "set" in draft:
            version = _store_version(row, draft, person=person)
    perform(
        row.project_id,
        lambda run: EndRecommendation(
            run_code=run,
            row=row,
            person=person,
            adopt=adopt,
            draft=draft,
            version=version,
        ),
    )
    row.refresh_from_db()
    return row


def _store_version(
    row: Recommendation, draft: Mapping[str, Any], *, person: PersonPrincipal
) -> PolicyVersion:
    """Committed before the recommendation says so: what is left if that fails is a draft
    that binds nobody, and the next attempt finds it."""
    name = draft["policy"]
    try:
        return create_version(
            project_id=row.project_id,
            name=name,
            document=draft["document"],
            note=f"Recommended: {row.title}",
            author=person,
            based_on=draft["based_on"],
        ).version
    except Unchanged as unchanged:
        versions = PolicyVersion.objects.filter(project_id=row.project_id, name=name)
        return versions.get(version=unchanged.extra["version"])


def _refuse_ended(row: Recommendation) -> None:
    if row.state not in OPEN:
        raise Invalid(f"The recommendation is {row.state} already.")


def _refuse_unadoptable(draft: Mapping[str, Any], *, based_on: int | None) -> None:
    if "set" in draft:
        _refuse_unseen(draft, based_on=based_on)
    if draft["problem"] is not None:
        raise Invalid(f"It can no longer be adopted: {draft['problem']}.")
    if "set" in draft and not draft["changes"]:
        raise Unchanged(
            f"The policy {draft['policy']} has all of this already: nothing would "
            "change. Dismiss it."
        )


def _refuse_unseen(draft: Mapping[str, Any], *, based_on: int | None) -> None:
    """Lists are replaced as a whole, so a change made since would be lost unseen."""
    name, version = draft["policy"], draft["based_on"]
    more = {
        "in_force": {"name": name, "version": version},
        "changes": draft["changes"],
    }
    if based_on is None:
        raise PreconditionRequired(
            "Give based_on: the policy version whose difference you have seen. "
            f"Version {version} of {name} is in force.",
            **more,
        )
    if based_on != version:
        raise StaleVersion(
            f"Version {version} of the policy {name} is in force now; you have seen "
            f"version {based_on}. Look at the difference again, then adopt it.",
            **more,
        )
