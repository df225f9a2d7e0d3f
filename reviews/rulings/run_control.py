"""What a person may do to a run: abort it, let it go on, note something about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial

from accounts.auth import PersonPrincipal
from common.errors import Forbidden, Invalid
from guidance.selectors import LoadedPolicy
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from ledger.writer.shared_use import read_shared_use
from reviews.agent_plans.ending import RUN_ENDED, end_plan
from reviews.errors import RunClosed, refuse_closed, refuse_used_up
from reviews.models import AdvisoryWarning
from reviews.plan import ClosingRequest, close_run
from reviews.policies.moves import add_move, find_next_version
from reviews.rulings.budgets import merge_budget
from reviews.schemas.reviews import BudgetIn


@dataclass(kw_only=True)
class AbortRun(ClosingRequest[None]):
    """`above` is the run that was aborted with all that are below it, such as this one."""

    person: PersonPrincipal
    reason: str
    above: str | None = None

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        if run.closed and run.status != "stopped":
            raise RunClosed.from_run(run)
        if run.observed:
            raise Forbidden(
                "This run is only observed: its agent asks nothing here and would not "
                "hear of it. End it where it runs."
            )
        plan = Plan(run, at)
        reason = self.reason or "A reviewer aborted the run."
        if self.above is not None:
            reason = f"Aborted with run {self.above} above it: {reason}"
        close_run(
            plan,
            self.follow_ups,
            "run.aborted",
            actor=self.person.actor,
            reason=reason,
            cause="person" if self.above is None else "run_above",
            **({} if self.above is None else {"above": self.above}),
        )
        return plan.change()


@dataclass(kw_only=True)
class ReopenRun(ChangeRequest[None]):
    """A stopped run goes on: totals stay, everything the gates remember begins anew.

    It goes on under the version of its policy that came into force for runs in progress
    meanwhile: with the old one it might meet the same limit again.
    """

    person: PersonPrincipal
    budget: BudgetIn
    reason: str
    agent: str
    policy: LoadedPolicy | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.policy = find_next_version(run)
        if self.policy is not None:
            run = run.copy_with(policy_id=self.policy.id)
        self.shared = read_shared_use([run], at)[run.id]

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        if run.status != "stopped":
            refuse_closed(run)
            raise Invalid(f"The run is {run.status}: only a stopped run is reopened.")
        refuse_used_up(self.shared, agent=self.agent, at=at)
        plan = Plan(run, at)
        plan.wakes_waiters = True
        end_plan(plan, reason=RUN_ENDED, actor=self.person.actor)
        plan.add_entry(
            "run.reopened",
            actor=self.person.actor,
            payload={
                "reason": self.reason,
                "budget": asdict(merge_budget(run.budget, self.budget)),
            },
        )
        if self.policy is not None:
            add_move(plan, self.policy, actor=self.person.actor)
        return plan.change()


@dataclass(kw_only=True)
class AddNote(ChangeRequest[None]):
    """Something to remember about a run, at any time. It changes nothing, and no agent
    sees it."""

    person: PersonPrincipal
    text: str

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        plan = Plan(run, at)
        plan.add_entry(
            "note.added", actor=self.person.actor, payload={"text": self.text}
        )
        return plan.change()


@dataclass(kw_only=True)
class AcknowledgeWarning(ChangeRequest[None]):
    """Somebody has seen what an advisory gate said: it need not be told again."""

    warning: AdvisoryWarning
    person: PersonPrincipal

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        plan = Plan(run, at)
        plan.add_entry(
            "warning.acknowledged",
            actor=self.person.actor,
            payload={"warning": str(self.warning.code), "text": self.warning.text},
        )
        rows = AdvisoryWarning.objects.filter(pk=self.warning.pk)
        plan.side_updates.append(
            partial(
                rows.update, acknowledged_at=at, acknowledged_by_id=self.person.user_id
            )
        )
        return plan.change()
