"""What people do to policies: store a version, and put one in force.

Each is decided under the project's lock, so that of two managers the second is judged on
what the first one left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from accounts.auth import PersonPrincipal
from common.errors import NotFound, StaleVersion, Unchanged
from guidance.core.canonical import hash_text
from guidance.models import Policy, PolicyActivation, PolicyVersion
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from reviews.policies.chain import SYSTEM_ACTOR, refuse_closed_run

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an act: the version, and the activation if it is in force now."""

    version: PolicyVersion
    activation: PolicyActivation | None = None


@dataclass(kw_only=True)
class PolicyAct(ChangeRequest[Outcome]):
    """`person` is None where a command of the server does it. With `based_on`, this
    version has to be in force: it is the one that the person has compared with."""

    name: str
    note: str
    person: PersonPrincipal | None
    based_on: int | None = None
    apply_to_running: bool = False
    policy: Policy | None = field(default=None, init=False)
    outcome: Outcome = field(init=False)

    def load(self, run: RunState, at: datetime) -> None:
        found = Policy.objects.select_related("active").filter(
            project_id=run.project_id, name=self.name
        )
        self.policy = found.first()

    @property
    def in_force(self) -> PolicyVersion | None:
        return self.policy.active if self.policy else None

    @property
    def actor(self) -> str:
        return self.person.actor if self.person else SYSTEM_ACTOR

    @property
    def person_id(self) -> int | None:
        return self.person.user_id if self.person else None

    def start_plan(self, run: RunState, at: datetime) -> Plan:
        refuse_closed_run(run)
        version = self.in_force.version if self.in_force else 0
        if self.based_on is not None and self.based_on != version:
            raise StaleVersion(
                f"Version {version} of the policy {self.name} is in force now, not "
                f"version {self.based_on} any more.",
                in_force={"name": self.name, "version": version},
            )
        return Plan(run, at)

    def add_activation(self, plan: Plan, *, version: int, mark: str) -> None:
        before = self.in_force
        plan.add_entry(
            "policy.activated",
            actor=self.actor,
            payload={
                "name": self.name,
                "version": version,
                "hash": mark,
                "before": before.version if before else None,
                "note": self.note,
                "apply_to_running": self.apply_to_running,
            },
        )

    def store_activation(self, version: PolicyVersion, at: datetime) -> Outcome:
        """The rows that say the same; the policy's row comes with its first version."""
        policy, _ = Policy.objects.get_or_create(
            project_id=version.project_id, name=self.name
        )
        activation = PolicyActivation.objects.create(
            policy=policy,
            before=self.in_force,
            version=version,
            note=self.note,
            apply_to_running=self.apply_to_running,
            by_id=self.person_id,
            at=at,
        )
        Policy.objects.filter(pk=policy.pk).update(active=version)
        return Outcome(version=version, activation=activation)

    def build_change(self, plan: Plan) -> Change[Outcome]:
        return plan.change(self._get_outcome)

    def _get_outcome(self, _entries: Sequence[SealedEntry]) -> Outcome:
        return self.outcome


@dataclass(kw_only=True)
class StoreVersion(PolicyAct):
    """`text` is the document as canonical JSON."""

    text: str
    activate: bool
    newest: PolicyVersion | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        super().load(run, at)
        rows = PolicyVersion.objects.filter(project_id=run.project_id, name=self.name)
        self.newest = rows.defer("document").order_by("-version").first()

    def decide(self, run: RunState, at: datetime) -> Change[Outcome]:
        plan = self.start_plan(run, at)
        mark = hash_text(self.text)
        self._refuse_known(mark)
        number = self.newest.version + 1 if self.newest else 1
        stored = {"name": self.name, "version": number, "hash": mark}
        plan.add_entry(
            "policy.stored", actor=self.actor, payload={**stored, "note": self.note}
        )
        if self.activate:
            self.add_activation(plan, version=number, mark=mark)
        plan.side_updates.append(partial(self._store, plan, stored))
        return self.build_change(plan)

    def _refuse_known(self, mark: str) -> None:
        if self.in_force is not None and self.in_force.hash == mark:
            raise Unchanged(
                f"Version {self.in_force.version} of the policy {self.name} is in force "
                "and says all of this already: nothing would change.",
                version=self.in_force.version,
            )
        if self.newest is not None and self.newest.hash == mark:
            raise Unchanged(
                f"Version {self.newest.version} of the policy {self.name} says all of "
                "this already, and is not in force: activate it.",
                version=self.newest.version,
            )

    def _store(self, plan: Plan, stored: dict[str, Any]) -> None:
        project_id = plan.run.project_id
        version = PolicyVersion.objects.create(
            project_id=project_id,
            document=self.text,
            note=self.note,
            created_by_id=self.person_id,
            created_at=plan.at,
            **stored,
        )
        if self.activate:
            self.outcome = self.store_activation(version, plan.at)
        else:
            Policy.objects.get_or_create(project_id=project_id, name=self.name)
            self.outcome = Outcome(version=version)


@dataclass(kw_only=True)
class ActivateVersion(PolicyAct):
    number: int
    version: PolicyVersion | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        super().load(run, at)
        rows = PolicyVersion.objects.filter(project_id=run.project_id, name=self.name)
        self.version = rows.filter(version=self.number).first()

    def decide(self, run: RunState, at: datetime) -> Change[Outcome]:
        plan = self.start_plan(run, at)
        version = self.version
        if version is None:
            raise NotFound
        if self.in_force == version:
            raise Unchanged(
                f"Version {self.number} of the policy {self.name} is in force already."
            )
        self.add_activation(plan, version=version.version, mark=version.hash)
        plan.side_updates.append(partial(self._store, version, plan.at))
        return self.build_change(plan)

    def _store(self, version: PolicyVersion, at: datetime) -> None:
        self.outcome = self.store_activation(version, at)
