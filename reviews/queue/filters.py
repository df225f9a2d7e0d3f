"""Which reviews a list takes in, for programs and for the queue alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import CharField, Func, Q, QuerySet

from accounts.models import Agent, User
from ledger.models import Run
from ledger.run_list.filter import Label
from ledger.run_list.labels import filter_by_labels
from ledger.run_list.scope import Scope
from ledger.run_list.searching import filter_by_texts
from reviews.models import Review, ReviewState

# Written out: SQLite takes a partial index only when it sees the value, not a parameter.
OPEN = Func(template=f"'{ReviewState.OPEN.value}'", output_field=CharField())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFilter:
    """Of several values any may fit; of `labels`, one of each group; all of `texts`.

    `runs` are their codes. What is None or empty lets everything in.
    """

    state: str | None = None
    kinds: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    labels: tuple[tuple[Label, ...], ...] = ()
    runs: tuple[UUID, ...] = ()
    assignees: tuple[str, ...] = ()
    claimed: bool | None = None
    snoozed: bool | None = None
    overdue: bool | None = None
    alike_keys: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


def filter_reviews(
    scope: Scope, wanted: ReviewFilter, *, at: datetime
) -> QuerySet[Review]:
    """Those of the scope's projects, in no order."""
    found = scope.filter_rows(Review.objects.all())
    if wanted.state is not None:
        is_open = wanted.state == ReviewState.OPEN
        found = found.filter(state=OPEN if is_open else wanted.state)
    for column, values in (
        ("kind", wanted.kinds),
        ("severity", wanted.severities),
        ("alike_key", wanted.alike_keys),
    ):
        if values:
            found = found.filter(_is_any(column, values))
    if wanted.agents:
        agents = scope.filter_rows(Agent.objects.filter(name__in=wanted.agents))
        found = found.filter(_is_any("run__agent_id", _list_keys(agents)))
    if wanted.runs:
        found = found.filter(_is_any("run__code", wanted.runs))
    if wanted.assignees:
        people = User.objects.filter(username__in=wanted.assignees)
        found = found.filter(_is_any("assignee_id", _list_keys(people)))
    if wanted.claimed is not None:
        found = found.filter(claimed_at__isnull=not wanted.claimed)
    if wanted.snoozed is not None:
        found = found.filter(snoozed_until__isnull=not wanted.snoozed)
    if wanted.overdue is not None:
        late = Q(state=OPEN, answer_by__lte=at)
        found = found.filter(late if wanted.overdue else ~late)
    for group in wanted.labels:
        found = filter_by_labels(found, group, run="run__")
    for text in wanted.texts:
        found = found.filter(_has_text(scope, text))
    return found


def _is_any(column: str, values: Iterable[Any]) -> Q:
    """One value by itself: the database then reads its index in order."""
    wanted = list(values)
    if len(wanted) == 1:
        return Q(**{column: wanted[0]})
    return Q(**{f"{column}__in": wanted})


def _list_keys(rows: QuerySet[Any]) -> list[int]:
    return list(rows.values_list("pk", flat=True))


def _has_text(scope: Scope, text: str) -> Q:
    """In the title, or among the words of the run."""
    runs = scope.filter_rows(Run.objects.all())
    runs = filter_by_texts(runs, (text,), run="", scope=scope)
    return Q(title__icontains=text) | Q(run__in=runs.values("pk"))


def list_open(*, project_id: int) -> QuerySet[Review]:
    return Review.objects.filter(project_id=project_id, state=OPEN)
