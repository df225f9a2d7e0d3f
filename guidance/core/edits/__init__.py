"""Several edits of one file, planned on its original text, all of them or none."""

from __future__ import annotations

from guidance.core.edits.changes import (
    count_diff_lines,
    count_edited_lines,
    describe_oversized,
)
from guidance.core.edits.edit import (
    Edit,
    EditMatch,
    EditPlan,
    EditProblem,
    EditRefusal,
)
from guidance.core.edits.plan import plan_edits

__all__ = [
    "Edit",
    "EditMatch",
    "EditPlan",
    "EditProblem",
    "EditRefusal",
    "count_diff_lines",
    "count_edited_lines",
    "describe_oversized",
    "plan_edits",
]
