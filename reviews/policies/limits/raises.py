"""More of a limit for the day or month that it is: an act of a manager, in the ledger."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from accounts.auth import PersonPrincipal
from accounts.models import Agent
from common.errors import Invalid
from guidance.core.runs.shared_limits import NOTHING, PARTS
from guidance.core.runs.usage import Usage
from ledger.models import SharedUse
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from ledger.writer.run_writes import Key, build_raise_statement, build_scope_keys
from reviews.policies.chain import refuse_closed_run

# As much as a policy may allow.
EXTRA_MAX = 10**15


@dataclass(kw_only=True)
class RaiseLimit(ChangeRequest[None]):
    """`agent` only where the scope is an agent's day. It counts for the day or month in
    which it is stored."""

    person: PersonPrincipal
    scope: str
    agent: Agent | None
    more: Usage
    reason: str
    given: Usage = field(default=NOTHING, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        scope, owner, period = self._build_key(run, at)
        row = SharedUse.objects.filter(scope=scope, owner=owner, period=period).first()
        self.given = Usage(
            **{part: getattr(row, f"{part}_extra") if row else 0 for part in PARTS}
        )

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        refuse_closed_run(run)
        for part in PARTS:
            if getattr(self.given, part) + getattr(self.more, part) > EXTRA_MAX:
                raise Invalid("So much was given already that no more can be added.")
        key = self._build_key(run, at)
        plan = Plan(run, at)
        amounts = {part: getattr(self.more, part) for part in PARTS}
        named = (
            {}
            if self.agent is None
            else {"agent": str(self.agent.code), "agent_name": self.agent.name}
        )
        plan.add_entry(
            "limit.raised",
            actor=self.person.actor,
            payload={
                "scope": self.scope,
                "period": key[2],
                "more": {part: amount for part, amount in amounts.items() if amount},
                "reason": self.reason,
                **named,
            },
        )
        plan.statements.append(build_raise_statement(key, self.more))
        return plan.change()

    def _build_key(self, run: RunState, at: datetime) -> Key:
        return build_scope_keys(
            agent_id=self.agent.pk if self.agent else None,
            project_id=run.project_id,
            at=at,
        )[self.scope]
