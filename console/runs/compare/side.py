"""One side of a comparison, and the runs that the other side may be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from console.format import build_past_moment, format_count
from console.runs.curves import Curve, build_curves, read_steps
from console.runs.rows import ICONS, TONES, format_short_code, get_status_word
from guidance.selectors import get_policy
from ledger.models import Run
from safetext import make_visible_line

_OTHERS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """`url` is empty for what is no single run."""

    name: str
    about: str
    url: str = ""
    word: str = ""
    tone: str = ""
    icon: str = ""
    curves: tuple[Curve, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRun:
    code: str
    short: str
    task: str
    word: str
    ago: str


def build_side(run: Run, *, slug: str) -> Side:
    steps = read_steps(run)
    limits = get_policy(run.policy_id).policy.continue_limits
    return Side(
        name=format_short_code(run.code),
        about=make_visible_line(run.task, limit=120),
        url=reverse("console:run", args=[slug, run.code]),
        word=get_status_word(run),
        tone=TONES[run.status],
        icon=ICONS[run.status],
        curves=build_curves(run, steps, limits),
        note=steps.note,
    )


def build_usual_side(run: Run, *, count: int) -> Side:
    agent = make_visible_line(run.agent.name)
    if not count:
        return Side(
            name="Median",
            about=f"No other run of {agent} has ended: nothing is usual yet.",
        )
    runs = format_count(count, "run")
    return Side(name="Median", about=f"of the newest {runs} of {agent} that have ended")


def list_others(run: Run, *, chosen: Run | None, at: datetime) -> list[OtherRun]:
    """The agent's newest runs but this one, and the one that is chosen, whose ever."""
    newest = (
        Run.objects.filter(project_id=run.project_id, agent_id=run.agent_id)
        .exclude(pk=run.pk)
        .defer("memory")
        .order_by("-pk")[:_OTHERS]
    )
    found = list(newest)
    if chosen and chosen not in newest and chosen != run:
        found.insert(0, chosen)
    return [
        OtherRun(
            code=str(each.code),
            short=format_short_code(each.code),
            task=make_visible_line(each.task, limit=80),
            word=get_status_word(each),
            ago=build_past_moment(each.updated_at, at).words,
        )
        for each in found
    ]
