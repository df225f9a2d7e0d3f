"""What people do to policies: store a version, and put one in force.

Each is decided under the project's lock, so that of two managers the second is judged on
what the first one left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from accounts.auth import PersonPrincipal
from common.errors import NotFound, StaleVersion, Unchanged
from guidance.core.canonical import hash_text
from guidance.models import Policy, PolicyActivation, PolicyVersion
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from reviews.errors import ReviewOpen
from reviews.policies.activation import Activation
from reviews.policies.backtest.selectors import find_result
from reviews.policies.chain import SYSTEM_ACTOR, refuse_closed_run
from reviews.policies.second_manager import (
    SecondManager,
    ask_second_manager,
    load_second_manager,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an act: the version, the activation if it is in force now, and the
    review if it waits for a second manager."""

    version: PolicyVersion
    activation: PolicyActivation | None = None
    review: str | None = None


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
    second: SecondManager = field(default_factory=SecondManager, init=False)
    tried: Mapping[str, Any] | None = field(default=None, init=False)
    review: str | None = field(default=None, init=False)
    outcome: Outcome = field(init=False)

    def load(self, run: RunState, at: datetime) -> None:
        found = Policy.objects.select_related("active").filter(
            project_id=run.project_id, name=self.name
        )
        self.policy = found.first()
        self.second = load_second_manager(run.project_id, self.name)
        self.review = None

    @property
    def in_force(self) -> PolicyVersion | None:
        return self.policy.active if self.policy else None

    @property
    def actor(self) -> str:
        return self.person.actor if self.person else SYSTEM_ACTOR

    @property
    def person_id(self) -> int | None:
        return self.person.user_id if self.person else None

    @property
    def activation(self) -> Activation:
        return Activation(
            name=self.name,
            note=self.note,
            apply_to_running=self.apply_to_running,
            before=self.in_force,
            person_id=self.person_id,
        )

    def load_tried(self, project_id: int, text: str) -> None:
        """What a backtest of this document found, where a second manager is to know."""
        if self.second.needed:
            self.tried = find_result(project_id, self.name, text)

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

    def add_activation(
        self, plan: Plan, *, version: int, text: str, author: str | None
    ) -> None:
        """At once, or once a second manager has approved it."""
        if self.second.waiting is not None:
            raise ReviewOpen(
                f"Another version of the policy {self.name} waits for a second manager: "
                "that review has to be ruled on first."
            )
        if not self.second.needed:
            self.activation.add_entry(
                plan, actor=self.actor, version=version, mark=hash_text(text)
            )
            return
        self.review = ask_second_manager(
            plan,
            self.second,
            self.activation,
            actor=self.actor,
            author=author,
            version=version,
            texts=(self.in_force.document if self.in_force else "{}", text),
            tried=self.tried,
        )

    def store_activation(self, version: PolicyVersion, at: datetime) -> None:
        waits = self.review is not None
        made = None if waits else self.activation.store(version, at)
        self.outcome = Outcome(version=version, activation=made, review=self.review)

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
        self.load_tried(run.project_id, self.text)

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
            self.add_activation(plan, version=number, text=self.text, author=self.actor)
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
        Policy.objects.get_or_create(project_id=project_id, name=self.name)
        if self.activate:
            self.store_activation(version, plan.at)
        else:
            self.outcome = Outcome(version=version)


@dataclass(kw_only=True)
class ActivateVersion(PolicyAct):
    number: int
    version: PolicyVersion | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        super().load(run, at)
        rows = PolicyVersion.objects.filter(project_id=run.project_id, name=self.name)
        found = rows.select_related("created_by").filter(version=self.number)
        self.version = found.first()
        if self.version is not None:
            self.load_tried(run.project_id, self.version.document)

    def decide(self, run: RunState, at: datetime) -> Change[Outcome]:
        plan = self.start_plan(run, at)
        version = self.version
        if version is None:
            raise NotFound
        if self.in_force == version:
            raise Unchanged(
                f"Version {self.number} of the policy {self.name} is in force already."
            )
        author = version.created_by
        self.add_activation(
            plan,
            version=version.version,
            text=version.document,
            author=f"user:{author.code}" if author else None,
        )
        plan.side_updates.append(partial(self.store_activation, version, plan.at))
        return self.build_change(plan)
