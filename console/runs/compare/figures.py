"""What two runs are compared by: one row a figure, and which of the two is higher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import Any

from django.db.models import Count

from console.format import format_compact, format_money, format_seconds
from console.runs.rows import get_status_word
from ledger.models import FINAL, Run
from ledger.state import compute_time_used
from reviews.models import Review, ToolCall
from safetext import make_visible_line

# What is usual is taken from so many of the agent's newest ended runs.
USUAL_RUNS = 50
_REVIEWS = 500
_DECISIONS = ("stop", "pause", "throttle", "checkpoint", "continue")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`difference` says in words how much more or less the first one is."""

    name: str
    a: str
    b: str
    difference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a run, or the medians of several. None is unknown."""

    steps: float
    tokens: float
    cost_micros: float
    tool_calls: float
    time_ms: float
    rework: float
    waited_s: float | None = None
    reviews: float | None = None
    decisions: Mapping[str, int] | None = None
    calls: Mapping[str, int] | None = None


def measure_run(run: Run) -> Measured:
    """Three queries."""
    steps = run.entries.filter(step_number__isnull=False).order_by()
    calls = ToolCall.objects.filter(run=run).order_by()
    reviews = Review.objects.filter(run=run, closed_at__isnull=False).order_by("-pk")
    spans = reviews.values_list("opened_at", "closed_at")[:_REVIEWS]
    waits = [closed - opened for opened, closed in spans if closed is not None]
    return Measured(
        **_read_columns(run),
        waited_s=sum(waits, timedelta()).total_seconds(),
        reviews=len(waits),
        decisions=dict(steps.values_list("decision").annotate(Count("pk"))),
        calls=dict(calls.values_list("decision").annotate(Count("pk"))),
    )


def measure_usual(run: Run) -> tuple[Measured, int]:
    """Medians of the agent's newest ended runs but this one, and of how many."""
    others = Run.objects.filter(
        project_id=run.project_id, agent_id=run.agent_id, status__in=FINAL
    ).exclude(pk=run.pk)
    found = [
        _read_columns(each)
        for each in others.defer("memory").order_by("-pk")[:USUAL_RUNS]
    ]
    count = len(found)
    found = found or [dict.fromkeys(_read_columns(run), 0.0)]
    middle: dict[str, Any] = {
        name: median(each[name] for each in found) for name in found[0]
    }
    return Measured(**middle), count


def _read_columns(run: Run) -> dict[str, Any]:
    ended = run.finished_at or run.updated_at
    return {
        "steps": run.steps,
        "tokens": run.tokens_used,
        "cost_micros": run.cost_micros_used,
        "tool_calls": run.tool_calls_used,
        "time_ms": compute_time_used(run, ended),
        "rework": run.rework_steps / run.steps if run.steps else 0.0,
    }


def build_figure_rows(a: Measured, b: Measured) -> list[Row]:
    rows = [
        _compare("Steps", a.steps, b.steps, _write_count),
        _compare("Tokens", a.tokens, b.tokens, _write_compact),
        _compare("Cost", a.cost_micros, b.cost_micros, _write_money),
        _compare("Tool calls", a.tool_calls, b.tool_calls, _write_count),
        _compare("Time", a.time_ms, b.time_ms, _write_time),
        Row(
            name="Steps that redid work",
            a=f"{100 * a.rework:.0f} %",
            b=f"{100 * b.rework:.0f} %",
        ),
        _compare("Reviews", a.reviews, b.reviews, _write_count),
        _compare("Waited for people", a.waited_s, b.waited_s, format_seconds),
    ]
    rows += _list_counts("Steps: {}", a.decisions, b.decisions, _DECISIONS)
    calls = ("block", "require-confirmation", "warn", "allow")
    return [*rows, *_list_counts("Calls: {}", a.calls, b.calls, calls)]


def _list_counts(
    name: str,
    a: Mapping[str, int] | None,
    b: Mapping[str, int] | None,
    kinds: Sequence[str],
) -> list[Row]:
    return [
        _compare(
            name.format(kind.replace("-", " ")),
            None if a is None else a.get(kind, 0),
            None if b is None else b.get(kind, 0),
            _write_count,
        )
        for kind in kinds
        if (a or {}).get(kind) or (b or {}).get(kind)
    ]


def _compare(
    name: str, a: float | None, b: float | None, write: Callable[[float], str]
) -> Row:
    return Row(
        name=name,
        a="–" if a is None else write(a),
        b="–" if b is None else write(b),
        difference=_describe_difference(a, b),
    )


def _describe_difference(a: float | None, b: float | None) -> str:
    if a is None or b is None or a == b:
        return ""
    if not b or not a:
        return ""
    if a > b:
        return (
            f"{a / b:.1f} times as much"
            if a >= 1.5 * b
            else f"{100 * (a / b - 1):.0f} % more"
        )
    return f"{100 * (1 - a / b):.0f} % less"


def _write_count(value: float) -> str:
    return f"{value:,.0f}"


def _write_compact(value: float) -> str:
    return format_compact(round(value))


def _write_money(value: float) -> str:
    return format_money(round(value))


def _write_time(value: float) -> str:
    return format_seconds(value / 1000)


def build_fact_rows(a: Run, b: Run) -> list[Row]:
    """What is not a figure. Needs `agent`, `policy` and `outcome` to be loaded with both."""
    facts: tuple[tuple[str, Callable[[Run], str]], ...] = (
        ("Task", lambda run: make_visible_line(run.task, limit=160)),
        ("Status", get_status_word),
        ("Why it ended", lambda run: make_visible_line(run.status_reason) or "–"),
        ("Accepted", _describe_accepted),
        ("Agent", lambda run: make_visible_line(run.agent.name)),
        ("Model", lambda run: make_visible_line(run.model) or "–"),
        ("Intent", lambda run: run.intent),
        ("Policy", lambda run: f"{run.policy.name}, version {run.policy.version}"),
        ("Labels", _describe_labels),
    )
    return [Row(name=name, a=say(a), b=say(b)) for name, say in facts]


def _describe_accepted(run: Run) -> str:
    outcome = getattr(run, "outcome", None)
    words = {True: "yes", False: "no", None: "not known"}
    return "–" if outcome is None else words[outcome.accepted]


def _describe_labels(run: Run) -> str:
    said = ", ".join(f"{name}={value}" for name, value in run.labels.items())
    return make_visible_line(said) or "–"
