"""Runs as the console shows them: list rows, the fleet, and one run's figures.

Values are formatted here, not in templates: rendering is what a live screen pays for.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import BigIntegerField, Count, F, JSONField, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.models import SYSTEM_AGENTS
from common.ids import parse_code
from console.charts import StepFigure, draw_fleet_bar, draw_gauge
from console.format import (
    format_ago,
    format_compact,
    format_count,
    format_exact_money,
    format_iso,
    format_money,
    format_span,
)
from guidance.core.number_format import format_duration, format_percent_beside
from guidance.core.runs.shared_limits import NOTHING
from guidance.core.runs.usage import Budget, Usage
from ledger.models import FINAL, Entry, ProjectHead, Run, RunOutcome
from ledger.selectors import exclude_system_runs
from ledger.state import build_budget, compute_time_used
from ledger.trees.relatives import Relatives, filter_children, read_relatives
from safetext import make_visible_line

PAGE = 50
_SHORT_CODE = re.compile("(r-)?[0-9a-f]{6}")
# Filters of the run list: what they are called, and the statuses they take in.
SHOWS: dict[str, tuple[str, ...]] = {
    "running": ("running",),
    "paused": ("paused",),
    "stopped": ("stopped",),
    "finished": tuple(sorted(FINAL)),
}
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
class RunRow:
    code: str
    short: str
    url: str
    task: str
    agent: str
    intent: str
    observed: bool
    rejected: str
    # The run that started it, and how many it started itself; empty where there are none.
    started_by: str
    children: str
    status: str
    show: str
    word: str
    tone: str
    icon: str
    steps: int
    tokens: Amount
    cost: str
    updated: str
    updated_at: str
    key: int
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """How many runs are where; a throttled run is a running one told to slow down."""

    running: int
    paused: int
    throttled: int
    stopped: int

    @property
    def total(self) -> int:
        return self.running + self.paused + self.throttled + self.stopped

    @property
    def parts(self) -> tuple[tuple[str, str, int], ...]:
        return (
            ("running", "go", self.running),
            ("paused", "pause", self.paused),
            ("throttled", "slow", self.throttled),
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
    runs = Run.objects.filter(
        project_id=project_id, status__in=("running", "paused", "stopped")
    )
    counts = exclude_system_runs(runs).aggregate(
        running=Count("pk", filter=running & ~slow),
        throttled=Count("pk", filter=running & slow),
        paused=Count("pk", filter=Q(status="paused")),
        stopped=Count("pk", filter=Q(status="stopped")),
    )
    return Fleet(**counts)


def list_runs(
    *, project_id: int, show: str = "", search: str = "", parent: Run | None = None
) -> QuerySet[Run]:
    """The project's runs, newest first, as the filters ask."""
    runs = Run.objects.filter(project_id=project_id).order_by("-pk")
    if parent is not None:
        runs = filter_children(runs, parent=parent)
    if search not in SYSTEM_AGENTS:
        runs = exclude_system_runs(runs)
    if show in SHOWS:
        runs = runs.filter(status__in=SHOWS[show])
    if search:
        wanted = Q(task__icontains=search) | Q(agent__name__icontains=search)
        code = parse_code(search)
        if code is not None:
            wanted |= Q(code=code)
        elif _SHORT_CODE.fullmatch(search):
            wanted |= Q(code__endswith=search.removeprefix("r-"))
        runs = runs.filter(wanted)
    return runs


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
    """Needs `agent` and `outcome` to be loaded with the run."""
    below, parent = relatives.below, relatives.parent
    return RunRow(
        code=str(run.code),
        short=format_short_code(run.code),
        url=reverse("console:run", args=[slug, run.code]),
        task=make_visible_line(run.task),
        agent=make_visible_line(run.agent.name),
        intent=run.intent,
        observed=run.observed,
        rejected=describe_rejection(run),
        started_by="" if parent is None else format_short_code(parent),
        children=describe_children(relatives),
        status=run.status,
        show=run.status if run.status in SHOWS else "finished",
        word=get_status_word(run),
        tone="slow" if is_throttled(run) else TONES[run.status],
        icon="slow" if is_throttled(run) else ICONS[run.status],
        steps=run.steps,
        tokens=list_amounts(run, below=below)[0],
        cost=format_money(run.cost_micros_used + below.cost_micros),
        updated=format_ago((at - run.updated_at).total_seconds()),
        updated_at=format_iso(run.updated_at),
        key=run.pk,
        seq=seq,
    )


def describe_rejection(run: Run) -> str:
    """The evaluators that a finished run did not pass, such as "tests-pass"."""
    outcome: RunOutcome | None = getattr(run, "outcome", None)
    if outcome is None or outcome.accepted is not False:
        return ""
    evaluations = json.loads(outcome.evaluations)
    return ", ".join(each["name"] for each in evaluations if each["passed"] is False)


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
    *, run_ids: Iterable[int], newest: int
) -> dict[int, list[StepFigure]]:
    """Tokens of each run's newest steps, oldest first: one query for all runs.

    The database picks the figure out of the payload: a queue of a hundred runs would
    otherwise parse three thousand documents for its sparklines.
    """
    report = KeyTransform("report", Cast("payload", JSONField()))
    entries = (
        Entry.objects.filter(
            run_id__in=list(run_ids), step_number__gt=F("run__last_step") - newest
        )
        .annotate(tokens=Cast(KeyTextTransform("tokens", report), BigIntegerField()))
        .order_by("run_id", "step_number")
        .values_list("run_id", "step_number", "tokens")
    )
    figures: dict[int, list[StepFigure]] = defaultdict(list)
    for run_id, number, tokens in entries:
        figures[run_id].append(StepFigure(number=number or 0, tokens=tokens))
    return figures
