"""Several edits of one file, planned on its original text, all of them or none."""

from __future__ import annotations

from guidance.core.edits.edit import (
    Edit,
    EditMatch,
    EditPlan,
    EditProblem,
    EditRefusal,
)
from guidance.core.edits.plan import plan_edits
from guidance.core.edits.sizes import diff_lines, oversized

__all__ = [
    "Edit",
    "EditMatch",
    "EditPlan",
    "EditProblem",
    "EditRefusal",
    "diff_lines",
    "oversized",
    "plan_edits",
]
