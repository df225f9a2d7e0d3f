"""The tree that a run stands in: the runs above it, itself, and those below it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from console.format import format_count, format_money
from console.runs.rows import (
    ICONS,
    TONES,
    describe_children,
    format_short_code,
    get_status_word,
    is_throttled,
)
from guidance.core.runs.shared_limits import NOTHING
from ledger.models import Run
from ledger.state import parse_lineage
from ledger.trees.descendants import count_open_below, list_first_below
from ledger.trees.relatives import Relatives, read_below
from safetext import make_visible_line

ROWS_LIMIT = 50
ABOVE_LIMIT = 5
# Deeper ones are drawn no further to the right.
_DEEPEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRow:
    """`depth` counts from the first row; `cost` is its own and that of all runs below."""

    depth: int
    indent: int
    url: str
    short: str
    task: str
    agent: str
    word: str
    tone: str
    icon: str
    cost: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTree:
    """`open_below` is the number of open runs below, in words; empty where there are none."""

    about: str
    rows: tuple[TreeRow, ...]
    hidden_above: int
    is_cut: bool
    children_url: str
    open_below: str


def build_tree(run: Run, relatives: Relatives, *, slug: str) -> RunTree | None:
    """None for a run that stands alone. Needs `agent` to be loaded with the run."""
    if relatives.parent is None and not relatives.total:
        return None
    ancestors = parse_lineage(run.lineage)
    shown = ancestors[-ABOVE_LIMIT:]
    above = Run.objects.filter(pk__in=shown).select_related("agent").defer("memory")
    below = list_first_below(run, limit=ROWS_LIMIT + 1) if relatives.total else []
    runs = [*above, run, *below[:ROWS_LIMIT]]
    used = read_below([each.pk for each in runs])
    start = len(ancestors) - len(shown)
    rows = [
        _build_row(
            each,
            depth=len(parse_lineage(each.lineage)) - start,
            below=used.get(each.pk, NOTHING).cost_micros,
            slug=slug,
            is_current=each.pk == run.pk,
        )
        for each in sorted(runs, key=_get_path)
    ]
    waiting = count_open_below(run) if relatives.total else 0
    address = reverse("console:runs", args=[slug])
    return RunTree(
        about=describe_children(relatives),
        rows=tuple(rows),
        hidden_above=start,
        is_cut=len(below) > ROWS_LIMIT,
        children_url=f"{address}?{urlencode({'parent': run.code})}",
        open_below=format_count(waiting, "open run") if waiting else "",
    )


def _get_path(run: Run) -> tuple[int, ...]:
    """Sorted by it, every run stands right above those that it started."""
    return (*parse_lineage(run.lineage), run.pk)


def _build_row(
    run: Run, *, depth: int, below: int, slug: str, is_current: bool
) -> TreeRow:
    slow = is_throttled(run)
    return TreeRow(
        depth=depth,
        indent=min(depth, _DEEPEST),
        url=reverse("console:run", args=[slug, run.code]),
        short=format_short_code(run.code),
        task=make_visible_line(run.task),
        agent=make_visible_line(run.agent.name),
        word=get_status_word(run),
        tone="slow" if slow else TONES[run.status],
        icon="slow" if slow else ICONS[run.status],
        cost=format_money(run.cost_micros_used + below),
        is_current=is_current,
    )
