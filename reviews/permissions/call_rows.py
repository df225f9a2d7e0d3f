"""The row of a call that was judged. All that it holds stands in its ledger entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import read_as_stored
from ledger.plan import NewRow, Plan, Table
from reviews.models import ToolCall

_CALLS = Table(
    ToolCall,
    "code",
    "project_id",
    "run_id",
    "review_id",
    "kind",
    "tool",
    "key",
    "digest",
    "decision",
    "seq",
    "judged_at",
    "facts",
)


def build_call_row(
    plan: Plan, payload: Mapping[str, Any], *, key: str, seq: int
) -> NewRow:
    """`payload` is that of its entry, which is at `seq`."""
    run, review, facts = plan.run, payload["review"], payload.get("facts")
    stored = to_canonical_json(read_as_stored(facts)) if facts is not None else None
    return NewRow(
        _CALLS,
        (
            payload["call"],
            run.project_id,
            run.id,
            review["id"] if review else None,
            payload["kind"],
            # Labels of secrets in a name can be longer than the name itself.
            payload["tool"][:200],
            key,
            payload["digest"],
            payload["decision"],
            seq,
            plan.at,
            stored,
        ),
    )
