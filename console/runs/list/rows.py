"""Rows of the run list, for the page and for its updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from console.format import format_iso, format_money, format_span
from console.runs.list.why import Why, describe_why
from console.runs.rows import (
    ICONS,
    TONES,
    Amount,
    describe_children,
    format_short_code,
    get_status_word,
    is_throttled,
    list_amounts,
)
from ledger.models import Run
from ledger.state import compute_time_used
from ledger.trees.relatives import Relatives, read_relatives
from safetext import make_visible_line

# How many labels a row shows.
LABELS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """`children` says how many it started itself, with what all below it have cost; empty
    where there are none. `key` is its place in the newest-first list."""

    code: str
    short: str
    url: str
    task: str
    agent: str
    labels: tuple[str, ...]
    observed: bool
    started_by: str
    children: str
    status: str
    word: str
    tone: str
    icon: str
    why: Why
    steps: str
    tokens: Amount
    cost: str
    time: str
    started: str
    started_at: str
    key: int
    seq: int


def build_run_rows(
    runs: Sequence[Run], *, slug: str, at: datetime, seq: int
) -> list[RunRow]:
    relatives = read_relatives(runs)
    return [
        build_run_row(run, relatives[run.pk], slug=slug, at=at, seq=seq) for run in runs
    ]


def build_run_row(
    run: Run, relatives: Relatives, *, slug: str, at: datetime, seq: int
) -> RunRow:
    """Needs `agent` and `outcome` to be loaded with the run.

    Cost is the run's own, so that the rows add up; tokens stand beside their limit, which
    counts what the runs below have used."""
    parent = relatives.parent
    return RunRow(
        code=str(run.code),
        short=format_short_code(run.code),
        url=reverse("console:run", args=[slug, run.code]),
        task=make_visible_line(run.task),
        agent=make_visible_line(run.agent.name),
        labels=tuple(
            make_visible_line(f"{name}={value}")
            for name, value in sorted(run.labels.items())[:LABELS]
        ),
        observed=run.observed,
        started_by="" if parent is None else format_short_code(parent),
        children=_describe_below(relatives),
        status=run.status,
        word=get_status_word(run),
        tone="slow" if is_throttled(run) else TONES[run.status],
        icon="slow" if is_throttled(run) else ICONS[run.status],
        why=describe_why(run),
        steps=f"{run.steps:,}",
        tokens=list_amounts(run, below=relatives.below)[0],
        cost=format_money(run.cost_micros_used),
        time=format_span(compute_time_used(run, at)),
        started=f"{run.created_at:%d %b %H:%M}".lstrip("0"),
        started_at=format_iso(run.created_at),
        key=int(run.created_at.timestamp() * 1_000_000),
        seq=seq,
    )


def _describe_below(relatives: Relatives) -> str:
    """How many runs it started itself, and what all below it have cost."""
    words, cost = describe_children(relatives), relatives.below.cost_micros
    return f"{words}, {format_money(cost)} below" if words and cost else words
