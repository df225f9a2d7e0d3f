"""Gate checks as they are stored: read back into what the core judges by."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from guidance.core.canonical import to_canonical_json
from guidance.core.checks import CheckState, CombinedGates, combine, read_gate
from guidance.core.jcs import read_as_stored
from reviews.models import AdvisoryWarning, GateCheck


def build_gates(check: GateCheck) -> CombinedGates:
    return combine(read_gate(document) for document in json.loads(check.gates))


def load_check_state(check: GateCheck) -> CheckState:
    return CheckState.from_json(json.loads(check.state))


def store_state(
    check: GateCheck, state: CheckState, *, review: str | None, at: datetime
) -> None:
    """The row follows the entry; `review` is the one that asks a person, if any."""
    check.state = to_canonical_json(read_as_stored(state.to_json()))
    check.status = state.status
    check.updated_at = at
    fields = ["state", "status", "updated_at"]
    if review is not None:
        check.review_id = UUID(review)
        fields.append("review")
    check.save(update_fields=fields)


def open_warnings(run_id: int) -> list[dict[str, Any]]:
    """What advisory gates said about this run and nobody has acknowledged yet."""
    rows = AdvisoryWarning.objects.filter(run_id=run_id, acknowledged_at__isnull=True)
    return [
        {"id": str(row.code), "check": str(row.check_code), "text": row.text}
        for row in rows.order_by("pk")
    ]
