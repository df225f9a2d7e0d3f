"""The page of one run: where it stands, what it used, what happened."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse

from accounts.selectors import list_managers
from console.format import ago, iso
from console.runs.rows import ICONS, TONES, is_throttled, status_word
from console.runs.summary import (
    Charts,
    RunFacts,
    charts_of,
    facts_of,
    figures_of,
    newest_steps,
)
from ledger.models import FINAL, Run
from safetext import visible, visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenReviewLink:
    kind: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    slug: str
    facts: RunFacts
    observed: bool
    task: str
    status: str
    word: str
    tone: str
    icon: str
    reason: str
    steps: int
    rework_steps: int
    updated_at: str
    updated: str
    ended_at: str
    ended: str
    charts: Charts | None
    reviews: tuple[OpenReviewLink, ...]
    may_abort: bool
    may_reopen: bool
    managers: tuple[str, ...]
    head_seq: int
    head_hash: str


def run_loaded(*, project_id: int, code: UUID | str) -> Run | None:
    return (
        Run.objects.select_related("agent", "policy", "parent")
        .filter(project_id=project_id, code=code)
        .first()
    )


def page_of(run: Run, *, slug: str, at: datetime) -> RunPage:
    """One more query, for the charts; another one for a run that may be reopened."""
    slow = is_throttled(run)
    stopped = run.status == "stopped"
    return RunPage(
        slug=slug,
        facts=facts_of(run, slug=slug, at=at),
        observed=run.observed,
        task=visible(run.task),
        status=run.status,
        word=status_word(run).capitalize(),
        tone="slow" if slow else TONES[run.status],
        icon="slow" if slow else ICONS[run.status],
        reason=visible_line(run.status_reason),
        steps=run.steps,
        rework_steps=run.rework_steps,
        updated_at=iso(run.updated_at),
        updated=ago((at - run.updated_at).total_seconds()),
        ended_at=iso(run.finished_at) if run.finished_at else "",
        ended=ago((at - run.finished_at).total_seconds()) if run.finished_at else "",
        charts=charts_of(
            figures_of(newest_steps(run)),
            used=run.tokens_used,
            limit=run.tokens_limit,
        ),
        reviews=tuple(
            OpenReviewLink(kind=kind, url=reverse("console:review", args=[slug, code]))
            for code, kind, *_ in json.loads(run.open_reviews)
        ),
        may_abort=run.status not in FINAL and not run.observed,
        may_reopen=stopped,
        managers=_managers(run) if stopped else (),
        head_seq=run.head_seq,
        head_hash=run.head_hash,
    )


def _managers(run: Run) -> tuple[str, ...]:
    people = list_managers(project_id=run.project_id)
    return tuple(visible_line(person.display_name) for person in people)
