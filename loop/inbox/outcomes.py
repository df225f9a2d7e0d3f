"""Outcomes: what came of an event, stored with the decision that emitted it."""

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
from common.responses import Reply, build_reply
from ledger.idempotency import Idempotency
from ledger.models import Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from loop.inbox.triggers import NewSignal
from loop.models import Decision
from loop.runs import perform, refuse_closed_run
from loop.selectors import DECISION_RELATED
from loop.serializers import serialize_decision


def link_run(plan: Plan, run: Run, signal: NewSignal) -> None:
    """Store how a run ended with the decision whose event started it."""
    code = parse_code(run.labels.get("decision_id", ""))
    if code is None:
        return
    ended = "succeeded" if signal.type == "agent/loop.complete" else "failed"
    report = {"run": str(run.code), **signal.data, "outcome": ended}
    rows = Decision.objects.filter(project_id=run.project_id, code=code)
    plan.side_updates.append(partial(_store, rows, report, plan.at))


def _store(rows: QuerySet[Decision], report: Mapping[str, Any], at: datetime) -> None:
    # The first report stays: an event may start several runs.
    rows.filter(reported="").exclude(event="null").update(
        reported=report["outcome"],
        report=json.dumps(report, ensure_ascii=False),
        reported_at=at,
    )


@dataclass(kw_only=True)
class ReportOutcome(ChangeRequest[Reply]):
    decision: Decision
    reader: Principal
    actor: str
    report: Mapping[str, Any]

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        refuse_closed_run(run)
        plan = Plan(run, at)
        plan.add_entry(
            "loop.reported",
            actor=self.actor,
            payload={"decision": str(self.decision.code), **self.report},
        )
        rows = Decision.objects.filter(pk=self.decision.pk)
        plan.side_updates.append(
            partial(
                rows.update,
                reported=self.report["outcome"],
                report=json.dumps(dict(self.report), ensure_ascii=False),
                reported_at=at,
            )
        )
        stored = rows.select_related(*DECISION_RELATED)
        return plan.change(
            lambda _entries: build_reply(
                serialize_decision(stored.get(), reader=self.reader)
            )
        )


def report_outcome(
    *,
    decision: Decision,
    principal: Principal,
    report: Mapping[str, Any],
    idempotency: Idempotency | None = None,
) -> Reply:
    """Reported by the program that acted on the event; a new report replaces it."""
    if decision.event == "null":
        raise Invalid("This decision emitted no event: there is no outcome to report.")
    return perform(
        decision.project_id,
        lambda run: ReportOutcome(
            run_code=run,
            decision=decision,
            reader=principal,
            actor=principal.actor,
            report=report,
            idempotency=idempotency,
        ),
    )
