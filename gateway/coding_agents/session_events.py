"""One event of a hook while it is being answered, and the run that it belongs to."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from accounts.auth import AgentPrincipal
from gateway.coding_agents.inputs import HookIn, Host, Options
from gateway.coding_agents.mapping import build_fingerprint
from gateway.coding_agents.replies import Outcome
from gateway.models import HookSession
from ledger.idempotency import Idempotency, build_idempotency
from ledger.models import FINAL
from ledger.serializers import build_run_url

# Nothing is held in the last part of the time, so that the answer arrives within it.
MARGIN = 0.2
MARGIN_MAX = 5.0
# Events whose answers tell the model what people wrote to it.
CARRYING = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"})


def _get_time() -> float:
    return asyncio.get_running_loop().time()


@dataclass(frozen=True, kw_only=True)
class HookEvent:
    agent: AgentPrincipal
    host: Host
    event: str
    body: HookIn
    options: Options
    began: float = field(default_factory=_get_time)
    # What people wrote, with rulings that let the agent go on or to the agent itself: told
    # with the answer.
    notes: list[str] = field(default_factory=list)

    @property
    def carries_notes(self) -> bool:
        """Whether the answer reaches the model, and is the same if it is asked for again."""
        return self.event in CARRYING

    @property
    def left(self) -> float:
        """Seconds for which this hook may still be held."""
        return self.began + self.options.wait_s - self.margin - _get_time()

    @property
    def margin(self) -> float:
        return min(MARGIN_MAX, self.options.wait_s * MARGIN)

    @property
    def tool(self) -> str:
        return self.body.tool_name or ""

    @property
    def given(self) -> dict[str, Any]:
        return self.body.tool_input or {}

    @property
    def tool_use(self) -> str:
        """Its id; a request for permission has none, and is known by what it is for."""
        if self.body.tool_use_id is not None:
            return self.body.tool_use_id
        turn = (self.body.turn_id or "")[:100]
        return f"{self.event}:{turn}:{self.fingerprint[:32]}"

    @cached_property
    def fingerprint(self) -> str:
        """Of the tool and its input, which may be long."""
        return build_fingerprint(self.tool, self.given)

    def build_idempotency(self, what: str) -> Idempotency:
        """The same event again, after a lost answer, does nothing a second time."""
        parts = (self.host, self.body.session_id, self.tool_use, what)
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        made = build_idempotency(
            key=f"hook-{key}",
            agent_id=self.agent.agent_id,
            method="HOOK",
            path=what,
            body=self.fingerprint.encode(),
        )
        assert made is not None  # a key was given
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRun:
    """A session with its run, as they stood when the event came."""

    session_id: int
    headless: bool
    run: str
    status: str
    reason: str
    url: str

    @property
    def over(self) -> bool:
        """Nothing more may happen in it."""
        return self.status == "stopped" or self.status in FINAL

    def describe_halt(self) -> Outcome:
        why = f": {self.reason}" if self.reason else "."
        return Outcome(
            decision="halt",
            reason=f"Checkrail: the run is {self.status}{why} See {self.url}",
        )


def build_session_run(session: HookSession, agent: AgentPrincipal) -> SessionRun:
    assert session.run is not None  # asked for only where there is one
    code = str(session.run.code)
    return SessionRun(
        session_id=session.pk,
        headless=session.headless,
        run=code,
        status=session.run.status,
        reason=session.run.status_reason,
        url=build_run_url(project_slug=agent.project_slug, run=code),
    )
