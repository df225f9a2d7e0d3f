"""What managers do: let a draft run beside its policy for a time, and stop it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import F

from accounts.auth import PersonPrincipal
from common.errors import Invalid, NotFound, Unchanged
from common.ids import uuid7
from guidance.models import Policy, PolicyVersion
from ledger.chain import format_timestamp
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from reviews.errors import ShadowRunning
from reviews.models import PolicyShadow, ShadowEnd
from reviews.policies.chain import refuse_closed_run

# What runs for longer is forgotten.
LONGEST = timedelta(days=31)


@dataclass(kw_only=True)
class StartShadow(ChangeRequest[PolicyShadow]):
    """`lasts` is how long from now on."""

    name: str
    number: int
    lasts: timedelta
    note: str
    person: PersonPrincipal
    code: str = field(default_factory=lambda: str(uuid7()))
    policy: Policy | None = field(default=None, init=False)
    version: PolicyVersion | None = field(default=None, init=False)
    running: PolicyShadow | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        known = {"project_id": run.project_id, "name": self.name}
        self.policy = Policy.objects.filter(**known).first()
        self.version = PolicyVersion.objects.filter(
            **known, version=self.number
        ).first()
        rows = PolicyShadow.objects.filter(policy=self.policy, ended_at=None)
        running = rows.select_related("version").filter(ends_at__gt=at)
        self.running = running.first() if self.policy else None

    def decide(self, run: RunState, at: datetime) -> Change[PolicyShadow]:
        refuse_closed_run(run)
        policy, version = self.policy, self.version
        if policy is None or version is None:
            raise NotFound
        self._refuse(policy, version)
        plan = Plan(run, at)
        ends_at = at + self.lasts
        plan.add_entry(
            "policy.shadow_started",
            actor=self.person.actor,
            payload={
                "shadow": self.code,
                "name": self.name,
                "version": version.version,
                "hash": version.hash,
                "ends_at": format_timestamp(ends_at),
                "note": self.note,
            },
        )
        row = PolicyShadow(
            code=self.code,
            project_id=run.project_id,
            policy=policy,
            version=version,
            note=self.note,
            by_id=self.person.user_id,
            started_at=at,
            ends_at=ends_at,
        )

        def store() -> None:
            past = PolicyShadow.objects.filter(policy=policy, ended_at=None)
            past.update(ended_at=F("ends_at"))
            row.save()

        plan.side_updates.append(store)

        def answer(_entries: Sequence[SealedEntry]) -> PolicyShadow:
            return row

        return plan.change(answer)

    def _refuse(self, policy: Policy, version: PolicyVersion) -> None:
        if policy.active_id is None:
            raise Invalid(
                f"No version of the policy {self.name} is in force: there is nothing "
                "that a draft could run beside."
            )
        if policy.active_id == version.pk:
            raise Unchanged(
                f"Version {self.number} of the policy {self.name} is in force: both "
                "would decide the same."
            )
        if self.running is not None:
            raise ShadowRunning(
                f"Version {self.running.version.version} runs beside the policy "
                f"{self.name} already. Stop it first.",
                shadow=str(self.running.code),
            )


@dataclass(kw_only=True)
class StopShadow(ChangeRequest[PolicyShadow]):
    code: str
    note: str
    person: PersonPrincipal
    shadow: PolicyShadow = field(init=False)

    def load(self, run: RunState, at: datetime) -> None:
        rows = PolicyShadow.objects.select_related("version", "policy", "by")
        self.shadow = rows.get(code=self.code)

    def decide(self, run: RunState, at: datetime) -> Change[PolicyShadow]:
        refuse_closed_run(run)
        shadow = self.shadow
        if shadow.ended_at is not None or shadow.ends_at <= at:
            raise Unchanged("It has ended already.")
        plan = Plan(run, at)
        plan.add_entry(
            "policy.shadow_stopped",
            actor=self.person.actor,
            payload={
                "shadow": self.code,
                "name": shadow.policy.name,
                "version": shadow.version.version,
                "note": self.note,
            },
        )
        shadow.ended_at, shadow.end = at, ShadowEnd.STOPPED

        def store() -> None:
            shadow.save(update_fields=["ended_at", "end"])

        plan.side_updates.append(store)

        def answer(_entries: Sequence[SealedEntry]) -> PolicyShadow:
            return shadow

        return plan.change(answer)


def end_published(version: PolicyVersion, at: datetime) -> None:
    """What ran beside the version in force is in force itself now."""
    PolicyShadow.objects.filter(version=version, ended_at=None, ends_at__gt=at).update(
        ended_at=at, end=ShadowEnd.PUBLISHED
    )
