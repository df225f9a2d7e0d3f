"""Runs in progress that go on under a version which came into force meanwhile.

Only where its activation says so. A run is moved between two steps, while nothing of it
waits for a person: what was asked under the old version is answered under it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import F, OuterRef, Subquery

from accounts.models import SYSTEM_AGENTS
from common.errors import DomainError
from guidance.models import Policy, PolicyActivation
from guidance.selectors import LoadedPolicy, get_policy
from ledger.models import Run, RunStatus
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from reviews.policies.chain import SYSTEM_ACTOR

SWEEP_LIMIT = 500


class NotMoved(DomainError):
    """Internal: the run has ended, waits for a person, or was moved by somebody else."""


@dataclass(kw_only=True)
class MoveRun(ChangeRequest[None]):
    policy: LoadedPolicy
    actor: str

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        if run.status != "running" or run.open_reviews:
            raise NotMoved("The run cannot be moved now.")
        if run.policy_id == self.policy.id:
            raise NotMoved("The run is judged by this version already.")
        plan = Plan(run, at)
        add_move(plan, self.policy, actor=self.actor)
        return plan.change(lambda _entries: None)


def add_move(plan: Plan, policy: LoadedPolicy, *, actor: str) -> None:
    """From here on the run is judged by this version."""
    plan.add_entry(
        "run.policy_changed",
        actor=actor,
        payload={
            "before": get_policy(plan.run.policy_id).build_stamp(),
            "policy": policy.build_stamp(),
        },
    )
    plan.run = plan.run.with_policy(policy.id)
    rows = Run.objects.filter(pk=plan.run.id)
    plan.side_updates.append(partial(rows.update, policy_id=policy.id))


def find_next_version(run: RunState) -> LoadedPolicy | None:
    """The version that a run goes on under, where its policy has got another one that is
    meant for runs in progress as well."""
    name = get_policy(run.policy_id).name
    newest = (
        PolicyActivation.objects.filter(
            policy__project_id=run.project_id, policy__name=name
        )
        .order_by("-pk")
        .first()
    )
    if newest is None or not newest.apply_to_running:
        return None
    same = newest.version_id == run.policy_id
    return None if same else get_policy(newest.version_id)


def move_running_runs(*, policy_id: int | None = None) -> int:
    """Move every run that is to go on under the version in force, a few hundred at a
    time; returns how many were moved here."""
    acts = PolicyActivation.objects.filter(policy=OuterRef("pk")).order_by("-pk")
    policies = Policy.objects.annotate(
        applies=Subquery(acts.values("apply_to_running")[:1]),
        actor=Subquery(acts.values("by__code")[:1]),
    ).filter(applies=True, active__isnull=False)
    if policy_id is not None:
        policies = policies.filter(pk=policy_id)
    moved = 0
    for policy in policies:
        actor = f"user:{policy.actor}" if policy.actor else SYSTEM_ACTOR
        assert policy.active_id is not None  # as filtered
        version = get_policy(policy.active_id)
        runs = (
            Run.objects.filter(
                project_id=policy.project_id,
                status=RunStatus.RUNNING,
                open_reviews="[]",
                policy__name=policy.name,
                policy__project_id=F("project_id"),
            )
            .exclude(policy_id=policy.active_id)
            .exclude(intent__in=SYSTEM_AGENTS)
        )
        for code in runs.values_list("code", flat=True)[:SWEEP_LIMIT]:
            moved += _move(MoveRun(run_code=str(code), policy=version, actor=actor))
    return moved


def _move(request: MoveRun) -> bool:
    try:
        get_writer().perform_now(request)
    except NotMoved:
        return False
    return True
