"""How a version comes into force: the entry and the rows that say so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from guidance.models import Policy, PolicyActivation, PolicyVersion
from ledger.plan import Plan
from reviews.policies.shadow.acts import end_published


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """An activation in the making. `before` is the version in force until then, and
    `person_id` whoever wants it, None for a command of the server."""

    name: str
    note: str
    apply_to_running: bool
    before: PolicyVersion | None
    person_id: int | None

    def add_entry(
        self, plan: Plan, *, actor: str, version: int, mark: str, **more: Any
    ) -> None:
        plan.add_entry(
            "policy.activated",
            actor=actor,
            payload={
                "name": self.name,
                "version": version,
                "hash": mark,
                "before": self.before.version if self.before else None,
                "note": self.note,
                "apply_to_running": self.apply_to_running,
                **more,
            },
        )

    def store(self, version: PolicyVersion, at: datetime) -> PolicyActivation:
        """The policy's row comes with its first version."""
        policy, _ = Policy.objects.get_or_create(
            project_id=version.project_id, name=self.name
        )
        row = PolicyActivation.objects.create(
            policy=policy,
            before=self.before,
            version=version,
            note=self.note,
            apply_to_running=self.apply_to_running,
            by_id=self.person_id,
            at=at,
        )
        Policy.objects.filter(pk=policy.pk).update(active=version)
        end_published(version, at)
        return row
