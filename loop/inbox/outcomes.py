"""Learn: what came of an event is linked back to the decision that sent it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import QuerySet

from accounts.auth import Principal
from common.errors import Invalid
from common.ids import parse_code
from common.responses import Reply, reply
from ledger.idempotency import Idempotency
from ledger.models import Run
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from loop.inbox.triggers import NewSignal
from loop.models import Decision
from loop.runs import perform, refuse_moved
from loop.selectors import DECISION_RELATED
from loop.serializers import decision_answer
from reviews.plan import Plan


def link_run(plan: Plan, run: Run, signal: NewSignal) -> None:
    """A run that an event started has ended: that is what came of the event."""
    code = parse_code(run.labels.get("decision_id", ""))
    if code is None:
        return
    ended = "succeeded" if signal.type == "agent/loop.complete" else "failed"
    report = {"run": str(run.code), **signal.data, "outcome": ended}
    rows = Decision.objects.filter(project_id=run.project_id, code=code)
    plan.effects.append(partial(_store, rows, report, plan.at))


def _store(rows: QuerySet[Decision], report: Mapping[str, Any], at: datetime) -> None:
    # What was told first stays: an event may lead to several runs.
    rows.filter(reported="").exclude(event="null").update(
        reported=report["outcome"],
        report=json.dumps(report, ensure_ascii=False),
        reported_at=at,
    )


@dataclass(kw_only=True)
class ReportOutcome(ChangeRequest[Reply]):
    decision: Decision
    actor: str
    report: Mapping[str, Any]

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        refuse_moved(run)
        plan = Plan(run, at)
        plan.note(
            "loop.reported",
            actor=self.actor,
            payload={"decision": str(self.decision.code), **self.report},
        )
        rows = Decision.objects.filter(pk=self.decision.pk)
        plan.effects.append(
            partial(
                rows.update,
                reported=self.report["outcome"],
                report=json.dumps(dict(self.report), ensure_ascii=False),
                reported_at=at,
            )
        )
        told = rows.select_related(*DECISION_RELATED)
        return plan.change(lambda _entries: reply(decision_answer(told.get())))


def outcome_report(
    *,
    decision: Decision,
    principal: Principal,
    report: Mapping[str, Any],
    idempotency: Idempotency | None = None,
) -> Reply:
    """Told by whoever acted on the event; told again, the newest word stands."""
    if decision.event == "null":
        raise Invalid("This decision sent no event: nothing can have come of it.")
    return perform(
        decision.project_id,
        lambda run: ReportOutcome(
            run_code=run,
            decision=decision,
            actor=principal.actor,
            report=report,
            idempotency=idempotency,
        ),
    )
