"""One run in figures and charts: on its own page, and beside its reviews."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.safestring import SafeString

from console.charts import (
    FIT_MIN_POINTS,
    FIT_WINDOW,
    StepFigure,
    draw_budget_chart,
    draw_tokens_chart,
)
from console.format import (
    format_ago,
    format_change,
    format_compact,
    format_count,
    format_iso,
    format_money,
)
from console.runs.rows import Amount, format_short_code, list_amounts
from console.runs.scores import ShownScore, list_scores
from guidance.core.runs.measures import fit_trend
from guidance.core.runs.usage import Usage
from guidance.selectors import get_policy
from ledger.models import Entry, Run
from ledger.state import build_budget
from reviews.selectors import ModelCost
from safetext import make_visible_line

CHART_STEPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    code: str
    short: str
    url: str
    task: str
    agent: str
    intent: str
    model: str
    labels: tuple[tuple[str, str], ...]
    started_at: str
    started: str
    checkpoint: int
    policy: str
    amounts: tuple[Amount, ...]
    # Whether the budget is the most that the agent may ask for.
    is_at_ceiling: bool
    scores: tuple[ShownScore, ...]
    cost_note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """`budget` is empty where tokens have no limit."""

    tokens: SafeString
    slope: str
    budget: SafeString
    left: str
    limit: str


def build_facts(
    run: Run,
    *,
    slug: str,
    at: datetime,
    steps: Sequence[Entry],
    below: Usage,
    asked: ModelCost | None = None,
) -> RunFacts:
    """Needs `agent` and `policy` to be loaded with the run; `steps` are its newest,
    `below` is what the runs below it have used.
    `asked` is what the server itself asked of models for it, where somebody looked."""
    ceiling = get_policy(run.policy_id).policy.budget_ceiling
    return RunFacts(
        code=str(run.code),
        short=format_short_code(run.code),
        url=reverse("console:run", args=[slug, run.code]),
        task=make_visible_line(run.task),
        agent=make_visible_line(run.agent.name),
        intent=run.intent,
        model=make_visible_line(run.model),
        labels=tuple(
            (make_visible_line(name), make_visible_line(value))
            for name, value in run.labels.items()
        ),
        started_at=format_iso(run.created_at),
        started=format_ago((at - run.created_at).total_seconds()),
        checkpoint=run.last_checkpoint_step,
        policy=f"{run.policy.name}, version {run.policy.version}",
        amounts=list_amounts(run, ceiling=ceiling, below=below),
        is_at_ceiling=build_budget(run) == ceiling,
        scores=_list_last_scores(steps),
        cost_note=describe_cost(run, asked),
    )


def _list_last_scores(steps: Sequence[Entry]) -> tuple[ShownScore, ...]:
    if not steps:
        return ()
    return list_scores(json.loads(steps[-1].payload)["verdict"]["metrics"])


def describe_cost(run: Run, asked: ModelCost | None) -> str:
    """Whose word the cost is: an agent's, or what the server itself was charged."""
    measured = asked.cost_micros if asked else 0
    reported = run.cost_micros_used - measured
    parts = []
    if asked and asked.requests:
        questions = format_count(asked.requests, "question")
        unpriced = f", {asked.unpriced} without a price" if asked.unpriced else ""
        parts.append(
            f"{format_money(measured)} for {questions} to the judge{unpriced}."
        )
    if reported > 0:
        amount = f"{format_money(reported)} of the cost" if measured else "Cost"
        parts.append(f"{amount} as reported by the agent.")
    elif run.tokens_used:
        parts.append("The agent reports no cost.")
    return " ".join(parts)


def list_newest_steps(run: Run, *, upto: int | None = None) -> list[Entry]:
    """The step entries a chart can show, oldest first."""
    last = run.last_step if upto is None else upto
    found = run.entries.filter(
        step_number__gt=last - CHART_STEPS, step_number__lte=last
    )
    return [each for each in found.order_by("step_number") if _is_readable(each)]


def _is_readable(step: Entry) -> bool:
    """False for one that was changed past the server: it must not hide all the others."""
    try:
        payload = json.loads(step.payload)
        return bool({"report", "verdict"} <= payload.keys())
    except (AttributeError, RecursionError, ValueError):
        return False


def build_figures(entries: Iterable[Entry]) -> list[StepFigure]:
    return [
        StepFigure(
            number=entry.step_number or 0,
            tokens=json.loads(entry.payload)["report"]["tokens"],
        )
        for entry in entries
    ]


def build_charts(
    steps: Sequence[StepFigure], *, used: int, limit: int | None
) -> Charts | None:
    """None before the first step: an empty chart tells nothing."""
    if not steps:
        return None
    newest = [step.tokens for step in steps[-FIT_WINDOW:]]
    slope = fit_trend(newest).slope if len(newest) >= FIT_MIN_POINTS else None
    return Charts(
        tokens=draw_tokens_chart(steps),
        slope="" if slope is None else format_change(slope),
        budget=(
            SafeString("")
            if limit is None
            else draw_budget_chart(steps, used=used, limit=limit)
        ),
        left=format_compact(used if limit is None else max(0, limit - used)),
        limit="" if limit is None else format_compact(limit),
    )
