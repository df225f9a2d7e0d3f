"""Runs of the server's own agents: chains of what happens in a project beside the work.

Such a run is a run like any other to whoever verifies or exports it. Its agent has no
key (`accounts.models.SYSTEM_AGENTS`), and the intent of the run is the agent's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from accounts.models import Agent
from common.errors import DomainError
from guidance.core.canonical import to_canonical_json
from guidance.core.policy.limits import UNLIMITED
from guidance.core.runs.memory import Memory
from guidance.selectors import LoadedPolicy
from ledger.chain import SealedEntry
from ledger.models import Run
from ledger.plan import Change, Plan
from ledger.state import RunState, build_state
from ledger.writer.changes import NewRunRequest


class RunStarted(DomainError):
    """Internal: somebody else started the run; the caller takes that one."""


def find_newest_run(project_id: int, name: str) -> Run | None:
    """By the agent's own few runs, however many others the project has."""
    return (
        Run.objects.filter(agent__project_id=project_id, agent__name=name)
        .order_by("-pk")
        .first()
    )


@dataclass(kw_only=True)
class StartSystemRun(NewRunRequest[str]):
    """The next run of one of the server's own agents; `parent` is the one before it.

    The project is locked meanwhile: of all who want to start it, one does. Returns the
    run's code.
    """

    name: str
    task: str
    owner_id: int
    policy: LoadedPolicy
    parent: Run | None
    actor: str = field(init=False, default="")

    @property
    def project_id(self) -> int:
        return self.owner_id

    def get_newest_id(self) -> int | None:
        """The run that would have to be `parent`, read under the lock."""
        newest = find_newest_run(self.owner_id, self.name)
        return newest.pk if newest else None

    def create(self, at: datetime) -> RunState:
        if self.get_newest_id() != (self.parent.pk if self.parent else None):
            raise RunStarted("The run has been started already.")
        agent, _ = Agent.objects.get_or_create(project_id=self.owner_id, name=self.name)
        run = Run.objects.create(
            code=self.run_code,
            project_id=self.owner_id,
            agent=agent,
            policy_id=self.policy.id,
            parent=self.parent,
            task=self.task,
            intent=self.name,
            labels=self.labels,
            status="running",
            memory=to_canonical_json(Memory().to_json()),
            created_at=at,
            updated_at=at,
        )
        self.actor = f"agent:{agent.code}"
        return build_state(run)

    @property
    def labels(self) -> dict[str, str]:
        return {"kind": self.name}

    def decide(self, run: RunState, at: datetime) -> Change[str]:
        plan = Plan(run, at)
        plan.add_entry(
            "run.started",
            actor=self.actor,
            payload={
                "task": self.task,
                "intent": self.name,
                "model": "",
                "labels": self.labels,
                "parent": str(self.parent.code) if self.parent else None,
                "policy": self.policy.build_stamp(),
                "budget": asdict(UNLIMITED),
            },
        )
        self.add_more(plan)
        return plan.change(self._answer)

    def add_more(self, plan: Plan) -> None:
        """What else belongs to the start of the run."""

    def _answer(self, _entries: Sequence[SealedEntry]) -> str:
        return self.run_code
