"""The chain of a project's policies: a run of the server's own, and how it is written to.

It begins with the first act that somebody does, and first records what was there before:
versions from older times, and the default policy that comes with Checkrail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from accounts.models import SYSTEM_POLICIES
from guidance.models import Policy, PolicyVersion
from guidance.selectors import load_policy_choice
from guidance.services import DEFAULT, get_policy_in_force
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import ChangeRequest, get_writer
from ledger.writer.system_runs import RunStarted, StartSystemRun, find_newest_run
from reviews.errors import RunClosed

T = TypeVar("T")
TASK = "Policies"
SYSTEM_ACTOR = f"system:{SYSTEM_POLICIES}"


class ChainMoved(RunClosed):
    """Internal: the run of the chain was ended; the caller goes on with the next one."""


def perform(project_id: int, make: Callable[[str], ChangeRequest[T]]) -> T:
    """Perform a request on the chain's run; on its successor if that has ended."""
    while True:
        try:
            return get_writer().perform_now(make(ensure_chain(project_id)))
        except ChainMoved:
            continue


def refuse_closed_run(run: RunState) -> None:
    """The chain's run may have been aborted since it was looked up."""
    if run.closed:
        raise ChainMoved.from_run(run)


def ensure_chain(project_id: int) -> str:
    """The code of the run for new entries; starts one if there is none."""
    newest = find_newest_run(project_id, SYSTEM_POLICIES)
    if newest is not None and newest.finished_at is None:
        return str(newest.code)
    policy = get_policy_in_force(project_id=project_id, name=DEFAULT)
    request = StartPolicyRun(owner_id=project_id, policy=policy, parent=newest)
    try:
        return get_writer().perform_now(request)
    except RunStarted:
        return ensure_chain(project_id)


@dataclass(kw_only=True)
class StartPolicyRun(StartSystemRun):
    name: str = SYSTEM_POLICIES
    task: str = TASK
    recorded: dict[str, Any] = field(default_factory=dict, init=False)

    def create(self, at: datetime) -> RunState:
        run = super().create(at)
        if self.parent is None:
            choice = load_policy_choice(project_id=self.owner_id)
            self.recorded = {
                "versions": _list_versions(self.owner_id),
                "assignments": [each.to_json() for each in choice.assignments],
                "agents_choose": choice.agents_choose,
            }
        return run

    def add_more(self, plan: Plan) -> None:
        if self.recorded:
            plan.add_entry("policy.recorded", actor=SYSTEM_ACTOR, payload=self.recorded)


def _list_versions(project_id: int) -> list[dict[str, Any]]:
    in_force = set(
        Policy.objects.filter(project_id=project_id).values_list("active_id", flat=True)
    )
    rows = PolicyVersion.objects.filter(project_id=project_id).order_by("pk")
    return [
        {"name": name, "version": number, "hash": mark, "active": pk in in_force}
        for pk, name, number, mark in rows.values_list("pk", "name", "version", "hash")
    ]
