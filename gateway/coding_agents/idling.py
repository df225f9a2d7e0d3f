"""A session between the end of a turn and the next prompt: no time of its run counts.

The run stays as it is, for nobody has decided anything about it. Whoever sits at the
terminal may think for an hour, or come back tomorrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from accounts.auth import AgentPrincipal
from common.errors import DomainError
from gateway.coding_agents.replies import Outcome
from gateway.coding_agents.session_events import HookEvent
from gateway.coding_agents.sessions import find_run
from gateway.use_cases.access import require_own_run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from reviews.errors import RunClosed, refuse_closed

ENDS = frozenset({"Stop", "SessionEnd"})


class SessionUnchanged(DomainError):
    """Internal: the ledger says so already, or keeps no time of this run."""


@dataclass(kw_only=True)
class MarkSession(ChangeRequest[None]):
    """The session waits for a prompt from now on, or works."""

    locked = False

    agent: AgentPrincipal
    idle: bool

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        require_own_run(run, self.agent)
        refuse_closed(run)
        if run.running_time is None or run.idle == self.idle:
            raise SessionUnchanged("Nothing changes.")
        plan = Plan(run, at)
        entry_type = "session.idle" if self.idle else "session.prompted"
        plan.add_entry(entry_type, actor=self.agent.actor, payload={})
        return plan.change()


def ends_turn(hook: HookEvent, outcome: Outcome) -> bool:
    """Whether the agent does nothing more until somebody at the terminal says something:
    it is halted, or has come to its end and is not sent back to work."""
    if outcome.decision == "halt":
        return True
    stays = outcome.decision == "continue_work" or hook.body.background_tasks
    return hook.event in ENDS and not stays


async def mark_idle(hook: HookEvent, *, idle: bool) -> None:
    run = await find_run(hook)
    if run is None or run.over:
        return
    request = MarkSession(agent=hook.agent, run_code=run.run, idle=idle)
    try:
        await get_writer().perform(request)
    except (SessionUnchanged, RunClosed):
        pass  # it was told before, or the run ended meanwhile
