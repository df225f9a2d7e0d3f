"""Runs that other runs start: where a new one stands in its tree, and what refuses it."""

from __future__ import annotations

from common.errors import Invalid
from common.ids import parse_code
from guidance.core.policy.limits import Limits
from ledger.models import Run
from ledger.selectors import exclude_system_runs
from ledger.state import build_state, format_lineage
from ledger.trees.relatives import filter_children
from reviews.errors import refuse_closed

# However much a policy allows: what a run uses is counted for every run above it.
DEPTH_LIMIT = 100


def find_parent(code: str | None, *, project_id: int) -> Run | None:
    """The run that the new one names, if it is of the same project; those of the server
    itself have no children, and agents do not learn of them."""
    if code is None:
        return None
    known = parse_code(code)
    runs = exclude_system_runs(Run.objects.filter(project_id=project_id))
    parent = known and runs.filter(code=known).first()
    if not parent:
        raise _refuse("parent_run is not a run of this project.", "no such run")
    return parent


def build_lineage(parent: Run, *, limits: Limits) -> str:
    """The ids of the runs above a child of an open run; refuses what is deeper or wider than
    the policy allows.

    The project is locked meanwhile, so that of many children no more than allowed start.
    """
    refuse_closed(build_state(parent))
    above = (*build_state(parent).ancestors, parent.pk)
    depth = DEPTH_LIMIT if limits.depth is None else limits.depth
    if len(above) > depth:
        message = f"{len(above):,} runs would be above it, and the limit is {depth:,}"
        raise _refuse(f"parent_run: {message}.", message)
    children = limits.children
    siblings = filter_children(Run.objects.all(), parent=parent)
    if children is not None and siblings[:children].count() >= children:
        message = f"its run has {children:,} children, and that is the limit"
        raise _refuse(f"parent_run: {message}.", message)
    return format_lineage(above)


def _refuse(detail: str, message: str) -> Invalid:
    return Invalid(detail, errors=[{"loc": ["parent_run"], "message": message}])
