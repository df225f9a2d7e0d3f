"""The page of one run: where it stands, what it used, what happened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import User
from accounts.selectors import list_managers
from console.access import ConsoleRequest
from console.format import build_past_moment, format_count, render_time
from console.runs.agent_notes import RunNotes, build_run_notes
from console.runs.allowances import RunAllowance, list_run_allowances
from console.runs.curves import Curve, build_curves, read_steps
from console.runs.evaluations import EvaluationCell, build_evaluations
from console.runs.limit_links import find_limit_link
from console.runs.plans import RunPlanCard, build_plan_card
from console.runs.rows import ICONS, TONES, get_status_word, is_throttled
from console.runs.summary import RunFacts, build_facts
from console.runs.tree import RunTree, build_tree
from guidance.selectors import get_policy
from ledger.models import FINAL, Run
from ledger.selectors import is_administration_run, is_system_run
from ledger.state import build_budget
from ledger.trees.relatives import read_relatives
from reviews.selectors import get_model_cost_of_run
from safetext import make_visible, make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Above the charts: what to know first, and where to go on."""

    tone: str
    icon: str
    head: str
    text: str
    url: str = ""
    link: str = "Open the review"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    slug: str
    facts: RunFacts
    observed: bool
    task: str
    about: SafeString
    word: str
    tone: str
    icon: str
    length: str
    rework: int
    notices: tuple[Notice, ...]
    allowances: tuple[RunAllowance, ...]
    notes: RunNotes
    plan: RunPlanCard | None
    evaluations: tuple[EvaluationCell, ...]
    curves: tuple[Curve, ...]
    curves_note: str
    may_abort: bool
    may_note: bool
    acted_on_by: str
    reopen_hint: str
    tree: RunTree | None
    head_seq: int
    head_hash: str


def find_visible_run(request: ConsoleRequest, code: UUID) -> Run | None:
    """The run as far as the viewer may see it: reviewers do not see who changed what."""
    run = get_run(project_id=request.project.pk, code=code)
    if run is None or (is_administration_run(run) and not request.role.sees_all):
        return None
    return run


def get_run(*, project_id: int, code: UUID | str) -> Run | None:
    """For whoever was let in already."""
    return (
        Run.objects.select_related("agent", "policy", "parent", "outcome", "project")
        .filter(project_id=project_id, code=code)
        .first()
    )


def build_page(run: Run, *, slug: str, at: datetime) -> RunPage:
    """Six more queries (seven for a run of many steps), for the curves, for what the judge
    cost, for its plan, for its notes to the agent, for its children and what they used;
    another one for a run that may be reopened, two for one that was, beyond its
    policy's ceiling, one for one that is allowed something, and a few for one that stands
    in a tree."""
    slow = is_throttled(run)
    steps = read_steps(run)
    asked = get_model_cost_of_run(run.pk)
    relatives = read_relatives([run])[run.pk]
    below = relatives.below
    facts = build_facts(
        run, slug=slug, at=at, steps=steps.entries, below=below, asked=asked
    )
    return RunPage(
        slug=slug,
        facts=facts,
        observed=run.observed,
        task=make_visible(run.task),
        about=_describe_run(run, facts, at=at),
        word=get_status_word(run).capitalize(),
        tone="slow" if slow else TONES[run.status],
        icon="slow" if slow else ICONS[run.status],
        length=format_count(run.steps, "step"),
        rework=run.rework_steps,
        notices=tuple(
            _list_notices(
                run,
                slug=slug,
                beyond=_find_beyond_ceiling(run),
                limit=find_limit_link(run, steps.entries, slug=slug),
            )
        ),
        allowances=list_run_allowances(run, at=at),
        notes=build_run_notes(run, at=at),
        plan=build_plan_card(run, at=at),
        evaluations=build_evaluations(run),
        curves=build_curves(
            run, steps, get_policy(run.policy_id).policy.continue_limits
        ),
        curves_note=steps.note,
        may_abort=run.status not in FINAL
        and not run.observed
        and not is_administration_run(run),
        may_note=not is_administration_run(run),
        acted_on_by="managers" if is_system_run(run) else "reviewers",
        reopen_hint=_describe_reopening(run) if run.status == "stopped" else "",
        tree=build_tree(run, relatives, slug=slug),
        head_seq=run.head_seq,
        head_hash=run.head_hash,
    )


def _describe_run(run: Run, facts: RunFacts, *, at: datetime) -> SafeString:
    """Whose run it is, and when it was last heard of."""
    return format_html(
        "<b>{}</b>, {}; {} {}.",
        facts.agent,
        f"{facts.intent}, {facts.model}" if facts.model else facts.intent,
        "ended" if run.finished_at else "last activity",
        render_time(build_past_moment(run.finished_at or run.updated_at, at)),
    )


def _list_notices(
    run: Run,
    *,
    slug: str,
    beyond: Notice | None = None,
    limit: tuple[str, str] = ("", ""),
) -> Iterator[Notice]:
    """`limit` is where the limit that stopped it is raised, and how that is called."""
    if run.observed:
        yield Notice(
            tone="mute",
            icon="eye",
            head="Observed, not gated.",
            text="OpenTelemetry reported this run after the fact. What the gates found "
            "is kept; they paused and stopped nothing.",
        )
    reason = make_visible_line(run.status_reason)
    reviews = json.loads(run.open_reviews)
    for code, *_ in reviews:
        yield Notice(
            tone="pause",
            icon="pause",
            head="Waiting for a person.",
            text=reason,
            url=reverse("console:review", args=[slug, code]),
        )
    if beyond is not None:
        yield beyond
    if reason and not reviews and not (beyond and run.status == "running"):
        slow = is_throttled(run)
        yield Notice(
            tone="slow" if slow else TONES[run.status],
            icon="slow" if slow else ICONS[run.status],
            head=f"{get_status_word(run).capitalize()}.",
            text=reason,
            url=limit[0],
            link=limit[1],
        )


def _find_beyond_ceiling(run: Run) -> Notice | None:
    """Who gave the run more than its agent may ask for, and why."""
    ceiling = get_policy(run.policy_id).policy.budget_ceiling
    budget = build_budget(run)
    if not budget.list_parts_above(ceiling):
        return None
    reopened = run.entries.filter(type="run.reopened").order_by("-seq").first()
    if reopened is None:
        return None
    person = User.objects.filter(code=reopened.actor.removeprefix("user:")).first()
    name = make_visible_line(person.display_name) if person else "A manager"
    reason = make_visible_line(json.loads(reopened.payload)["reason"])
    return Notice(
        tone="slow",
        icon="retry",
        head="More than the policy’s ceiling.",
        text=f"{name} reopened it with more budget: {reason}",
    )


def _describe_reopening(run: Run) -> str:
    """For those who may not: who may."""
    people = list_managers(project_id=run.project_id)
    names = ", ".join(make_visible_line(person.display_name) for person in people)
    return f"A manager can reopen it: {names}." if names else "A manager can reopen it."
