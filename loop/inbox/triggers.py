"""Triggers: signals from agents and people, from the clock, by hand.

Each is stored with its ledger entry in one commit, before a worker is told to decide it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from accounts.auth import Principal
from common.ids import parse_code, uuid7
from common.responses import Reply, build_reply
from guidance.core.canonical import to_canonical_json
from guidance.core.loop.facts import build_identity
from ledger.idempotency import Idempotency
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from loop.errors import SignalKnown
from loop.models import Decision, Signal
from loop.runs import perform, refuse_closed_run


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSignal:
    """A trigger before it is stored; its decision has an id from the beginning."""

    type: str
    source: str
    actor: str
    data: Mapping[str, Any] = field(default_factory=dict)
    dedupe_key: str | None = None
    code: str = field(default_factory=lambda: str(uuid7()))
    decision_code: str = field(default_factory=lambda: str(uuid7()))

    def build_row(
        self,
        *,
        project_id: int,
        at: datetime,
        position: int | None = None,
        cause_id: int | None = None,
    ) -> Signal:
        return Signal(
            code=self.code,
            decision_code=self.decision_code,
            project_id=project_id,
            type=self.type,
            source=self.source,
            actor=self.actor,
            data=to_canonical_json(self.data),
            identity=build_identity(
                type=self.type, data=self.data, dedupe_key=self.dedupe_key
            ),
            dedupe_key=self.dedupe_key,
            position=position,
            cause_id=cause_id,
            received_at=at,
        )

    def add_to(self, plan: Plan, *, cause_id: int | None = None) -> None:
        plan.add_entry(
            "loop.signalled",
            actor=self.actor,
            payload={
                "signal": self.code,
                "decision": self.decision_code,
                "type": self.type,
                "source": self.source,
                "data": dict(self.data),
                "dedupe_key": self.dedupe_key,
            },
        )
        plan.rows.append(
            self.build_row(
                project_id=plan.run.project_id, at=plan.at, cause_id=cause_id
            )
        )


def find_cause_id(data: Mapping[str, Any], *, project_id: int) -> int | None:
    """The id of the decision whose event led to this, if the sender names it."""
    named = data.get("decision_id")
    code = parse_code(named) if isinstance(named, str) else None
    if code is None:
        return None
    emitted = Decision.objects.filter(project_id=project_id, code=code)
    return emitted.exclude(event="null").values_list("pk", flat=True).first()


@dataclass(kw_only=True)
class AcceptSignal(ChangeRequest[Reply]):
    signal: NewSignal
    known: Signal | None = field(default=None, init=False)
    cause_id: int | None = field(default=None, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        key = self.signal.dedupe_key
        self.known = None if key is None else find_signal(run.project_id, key)
        self.cause_id = find_cause_id(self.signal.data, project_id=run.project_id)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        refuse_closed_run(run)
        if self.known is not None:
            raise SignalKnown("A signal with this key is stored.")
        plan = Plan(run, at)
        self.signal.add_to(plan, cause_id=self.cause_id)
        return plan.change(self._answer)

    def _answer(self, _entries: Sequence[SealedEntry]) -> Reply:
        return build_accepted_reply(self.signal.code, self.signal.decision_code)


def find_signal(project_id: int, key: str) -> Signal | None:
    return Signal.objects.filter(project_id=project_id, dedupe_key=key).first()


def build_accepted_reply(signal: object, decision: object) -> Reply:
    return build_reply(
        {"signal": str(signal), "decision_id": str(decision)}, status=202
    )


def accept_signal(
    *,
    project_id: int,
    principal: Principal,
    type: str,
    source: str = "signal",
    data: Mapping[str, Any] | None = None,
    dedupe_key: str | None = None,
    idempotency: Idempotency | None = None,
) -> Reply:
    """Store a signal; one with a known `dedupe_key` is answered like the first."""
    new = NewSignal(
        type=type,
        source=source,
        actor=principal.actor,
        data=data or {},
        dedupe_key=dedupe_key,
    )
    try:
        return perform(
            project_id,
            lambda run: AcceptSignal(run_code=run, signal=new, idempotency=idempotency),
        )
    except SignalKnown:
        assert dedupe_key is not None
        known = Signal.objects.get(project_id=project_id, dedupe_key=dedupe_key)
        return build_accepted_reply(known.code, known.decision_code)
