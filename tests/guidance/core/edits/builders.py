"""Plain builders for plans."""

from __future__ import annotations

from collections.abc import Sequence

from guidance.core.edits import Edit, EditPlan, EditProblem, EditRefusal, plan_edits
from guidance.core.edits.diffs import list_passages, render_unified

Change = tuple[str, str] | tuple[str, str, bool]


def make_edits(changes: Sequence[Change]) -> list[Edit]:
    """(old, new) or (old, new, replace_all)."""
    return [
        Edit(old=change[0], new=change[1], replace_all=len(change) > 2)
        for change in changes
    ]


def plan_changes(original: str, *changes: Change) -> EditPlan:
    plan = plan_edits(original, make_edits(changes))
    assert isinstance(plan, EditPlan), plan
    return plan


def get_problems(original: str, *changes: Change) -> tuple[EditProblem, ...]:
    refusal = plan_edits(original, make_edits(changes))
    assert isinstance(refusal, EditRefusal), refusal
    return refusal.problems


def layers(plan: EditPlan) -> list[str]:
    return [match.layer for match in plan.matches]


def whole_diff(old: str, new: str, *, name: str = "x") -> str:
    """The unified diff of two texts."""
    made = list_passages(old, [(0, len(old), new)], affords=lambda _price: True)
    return render_unified(old, made, name=name)
