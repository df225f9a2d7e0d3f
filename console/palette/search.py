"""What a few letters find in a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from accounts.models import Agent
from console.queue.kinds import get_kind
from console.runs.rows import format_short_code, get_status_word
from ledger.models import Run
from ledger.run_list.scope import Scope
from ledger.run_list.searching import filter_by_texts
from reviews.models import Review, ReviewState
from reviews.queue.filters import ReviewFilter, filter_reviews
from safetext import make_visible_line

# Of each kind: more letters find the rest.
LIMIT = 6
TEXT_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    icon: str
    title: str
    about: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroup:
    name: str
    items: list[Found]


def search(scope: Scope, text: str, *, slug: str) -> list[FoundGroup]:
    """A query for each kind; groups without anything are left out."""
    groups = (
        FoundGroup(name="Open reviews", items=list(_list_reviews(scope, text, slug))),
        FoundGroup(name="Runs", items=list(_list_runs(scope, text, slug))),
        FoundGroup(name="Agents", items=list(_list_agents(scope, text, slug))),
    )
    return [group for group in groups if group.items]


def _list_reviews(scope: Scope, text: str, slug: str) -> Iterator[Found]:
    wanted = ReviewFilter(state=ReviewState.OPEN, texts=(text,))
    found: list[Review] = list(
        filter_reviews(scope, wanted, at=timezone.now())
        .select_related("run__agent")
        .order_by("urgency", "answer_by", "pk")[:LIMIT]
    )
    for review in found:
        agent = make_visible_line(review.run.agent.name)
        yield Found(
            icon=get_kind(review.kind).icon,
            title=make_visible_line(review.title),
            about=f"{review.severity}, {agent}, {format_short_code(review.run.code)}",
            url=reverse("console:review", args=[slug, review.code]),
        )


def _list_runs(scope: Scope, text: str, slug: str) -> Iterator[Found]:
    runs = scope.hide_administration(scope.filter_rows(Run.objects.all()))
    runs = filter_by_texts(runs, (text,), run="", scope=scope)
    for run in runs.select_related("agent").order_by("-pk")[:LIMIT]:
        agent = make_visible_line(run.agent.name)
        yield Found(
            icon="runs",
            title=make_visible_line(run.task),
            about=f"{get_status_word(run)}, {agent}, {format_short_code(run.code)}",
            url=reverse("console:run", args=[slug, run.code]),
        )


def _list_agents(scope: Scope, text: str, slug: str) -> Iterator[Found]:
    agents = scope.filter_rows(Agent.objects.filter(name__icontains=text))
    runs = reverse("console:runs", args=[slug])
    for agent in agents.order_by("name")[:LIMIT]:
        name = make_visible_line(agent.name)
        yield Found(
            icon="agent",
            title=name,
            about="its runs",
            url=f"{runs}?{urlencode({'q': f'agent:{agent.name}'})}",
        )
