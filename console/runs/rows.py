"""Runs as the console shows them: list rows, the fleet, and one run's figures.

Values are formatted here, not in templates: rendering is what a live screen pays for.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.safestring import SafeString

from console.charts import StepFigure, draw_fleet_bar, draw_gauge
from console.format import (
    format_compact,
    format_count,
    format_exact_money,
    format_money,
    format_span,
)
from guidance.core.number_format import format_duration, format_percent_beside
from guidance.core.runs.shared_limits import NOTHING
from guidance.core.runs.usage import Budget, Usage
from ledger.halts.held_runs import build_held_filter
from ledger.models import Entry, ProjectHead, Run
from ledger.selectors import exclude_system_runs
from ledger.state import build_budget, compute_time_used
from ledger.trees.relatives import Relatives

TONES = {
    "running": "go",
    "paused": "pause",
    "stopped": "stop",
    "completed": "mute",
    "failed": "stop",
    "aborted": "stop",
    "abandoned": "mute",
}
ICONS = {
    "running": "play",
    "paused": "pause",
    "stopped": "stop",
    "completed": "check",
    "failed": "x",
    "aborted": "x",
    "abandoned": "clock",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One part of a budget: used, of what, and how full that is."""

    name: str
    used: str
    limit: str
    share: float | None
    # The most that the agent may ask for, in words, where that is not the limit.
    ceiling: str = ""

    @property
    def bar(self) -> SafeString:
        return draw_gauge(share=self.share or 0.0, tick=None)

    @property
    def percent(self) -> str:
        return (
            ""
            if self.share is None
            else format_percent_beside(self.share, 1.0, places=0)
        )

    @property
    def spent(self) -> bool:
        return self.share is not None and self.share >= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The number of runs by state; a throttled run is a running one told to slow down, and a
    halted one would run but for a halt."""

    running: int
    paused: int
    throttled: int
    stopped: int
    halted: int

    @property
    def total(self) -> int:
        return sum(count for _, _, count in self.parts)

    @property
    def parts(self) -> tuple[tuple[str, str, int], ...]:
        halted = (("halted", "mute", self.halted),) if self.halted else ()
        return (
            ("running", "go", self.running),
            ("paused", "pause", self.paused),
            ("throttled", "slow", self.throttled),
            *halted,
            ("stopped", "stop", self.stopped),
        )

    @property
    def label(self) -> str:
        return ", ".join(f"{count} {name}" for name, _, count in self.parts)

    @property
    def bar(self) -> SafeString:
        return draw_fleet_bar([(tone, count) for _, tone, count in self.parts])


def get_live_position(*, project_id: int) -> int:
    """Where the project's ledger stands. Read it before what it should describe."""
    found = ProjectHead.objects.filter(project_id=project_id).values_list(
        "position", flat=True
    )
    return found.first() or 0


def count_fleet(*, project_id: int) -> Fleet:
    running, slow = Q(status="running"), Q(last_decision="throttle")
    held = build_held_filter(project_id=project_id)
    runs = Run.objects.filter(
        project_id=project_id, status__in=("running", "paused", "stopped")
    )
    counts = exclude_system_runs(runs).aggregate(
        running=Count("pk", filter=running & ~slow),
        throttled=Count("pk", filter=running & slow),
        held=Count("pk", filter=running & ~slow & held),
        held_slow=Count("pk", filter=running & slow & held),
        paused=Count("pk", filter=Q(status="paused")),
        stopped=Count("pk", filter=Q(status="stopped")),
    )
    return Fleet(
        running=counts["running"] - counts["held"],
        throttled=counts["throttled"] - counts["held_slow"],
        halted=counts["held"] + counts["held_slow"],
        paused=counts["paused"],
        stopped=counts["stopped"],
    )


def describe_children(relatives: Relatives) -> str:
    """How many runs it started itself, and how many of them are open."""
    if not relatives.total:
        return ""
    total = format_count(relatives.total, "child", "children")
    return f"{total}, {relatives.running:,} open" if relatives.running else total


def format_short_code(code: object) -> str:
    """The end of the id: its beginning is the time, alike for neighbours."""
    return f"r-{str(code)[-6:]}"


def is_throttled(run: Run) -> bool:
    return run.status == "running" and run.last_decision == "throttle"


def get_status_word(run: Run) -> str:
    return "throttled" if is_throttled(run) else run.status


def list_amounts(
    run: Run, *, ceiling: Budget | None = None, below: Usage = NOTHING
) -> tuple[Amount, ...]:
    """Tokens, tool calls, time and cost, in this order; `below` is what the runs below it
    have used of them."""
    calls = run.tool_calls_used + below.tool_calls
    cost = run.cost_micros_used + below.cost_micros
    time_ms = compute_time_used(run, timezone.now())
    most = ceiling or build_budget(run)
    return (
        _build_amount(
            "Tokens",
            run.tokens_used + below.tokens,
            run.tokens_limit,
            most.tokens,
            COUNTED,
        ),
        _build_amount(
            "Tool calls",
            calls,
            run.tool_calls_limit,
            most.tool_calls,
            COUNTED,
        ),
        _build_amount("Time", time_ms, run.time_ms_limit, most.time_ms, TIMED),
        _build_amount("Cost", cost, run.cost_micros_limit, most.cost_micros, PAID),
    )


Write = Callable[[int], str]
# How an amount is written in short, and how in full.
COUNTED: tuple[Write, Write] = (format_compact, "{:,}".format)
TIMED: tuple[Write, Write] = (format_span, format_duration)
PAID: tuple[Write, Write] = (format_money, format_exact_money)


def _build_amount(
    name: str,
    used: int,
    limit: int | None,
    ceiling: int | None,
    written: tuple[Write, Write],
) -> Amount:
    """In short, but for what would then look equal to its limit and is not."""
    shortly, fully = written
    most = "" if limit is None else shortly(limit)
    near = used != limit and shortly(used) == most
    return Amount(
        name=name,
        used=fully(used) if near else shortly(used),
        limit=most,
        share=None if limit is None else used / limit if limit else 1.0,
        ceiling="" if ceiling == limit else _describe_ceiling(ceiling, shortly),
    )


def _describe_ceiling(ceiling: int | None, write: Write) -> str:
    return "no ceiling" if ceiling is None else f"ceiling {write(ceiling)}"


def get_step_figures(
    *, runs: Mapping[int, Run], newest: int
) -> dict[int, list[StepFigure]]:
    """Tokens of the newest steps of each run, oldest first: one query for all runs.

    The figure is picked out of the payload: a queue of a hundred runs would otherwise parse
    three thousand documents for its sparklines. Each run has a range of the index of its
    own; to join the table of runs would read all of them.
    """
    if not runs:
        return {}
    ranges = (
        Q(run_id=run_id, step_number__gt=max(0, run.last_step - newest))
        for run_id, run in runs.items()
    )
    entries = (
        Entry.objects.filter(reduce(or_, ranges))
        .order_by("run_id", "step_number")
        .values_list("run_id", "step_number", "payload")
    )
    figures: dict[int, list[StepFigure]] = defaultdict(list)
    for run_id, number, payload in entries:
        tokens = _read_tokens(payload)
        figures[run_id].append(StepFigure(number=number or 0, tokens=tokens))
    return figures


# A quote within a text has a backslash before it, so no text looks like this.
_TOKENS = re.compile(r'"report":\{.*?[,{]"tokens":(\d+)')


def _read_tokens(payload: str) -> int:
    found = _TOKENS.search(payload)
    tokens: int = int(found[1]) if found else json.loads(payload)["report"]["tokens"]
    return tokens
