"""Notices of limits that runs share: written once, to the chain of the run that passed."""

from __future__ import annotations

from guidance.core.runs.shared_limits import SharedUse
from ledger.plan import Plan
from ledger.writer.run_writes import build_notice_statement

ACTOR = "system:limits"


def add_notices(plan: Plan, shared: SharedUse) -> None:
    """Only under the project's lock: nobody else passes the same mark meanwhile."""
    for limit in shared.limits:
        percent = limit.due_notice
        if percent is not None:
            plan.add_entry(
                "limit.noticed",
                actor=ACTOR,
                payload={**limit.to_json(), "percent": percent},
            )
            plan.statements.append(build_notice_statement(limit, percent))
