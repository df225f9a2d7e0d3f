"""Which figures a request asks for, and how far they are counted."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from accounts.api_auth import get_person, get_project
from common.paging import build_parameter_error
from ledger.chain import format_timestamp
from ledger.statistics.periods import Scope
from ledger.statistics.schemas import PeriodQuery
from ledger.statistics.selectors import get_counted_until

DAYS = 30
DAYS_LIMIT = 366 * 10


def read_period(
    since: datetime | None, until: datetime | None
) -> tuple[datetime, datetime]:
    """The period that a request names; what it leaves out has a sensible default."""
    for name, moment in (("until", until), ("since", since)):
        if moment is not None and not 1970 <= moment.year < 9000:
            raise build_parameter_error(name, "must be in a year from 1970 to 8999")
    until = until or timezone.now()
    since = since or until - timedelta(days=DAYS)
    if since >= until:
        raise build_parameter_error("since", "must be before until")
    return since, until


def build_scope(request: HttpRequest, query: PeriodQuery) -> Scope:
    """The figures that a request asks for."""
    project = get_project(principal=get_person(request), slug=query.project)
    since, until = read_period(query.since, query.until)
    if until - since > timedelta(days=DAYS_LIMIT):
        raise build_parameter_error("since", "at most ten years before until")
    label = None
    if query.label is not None:
        name, colon, value = query.label.partition(":")
        if not colon or not name:
            raise build_parameter_error("label", "must be name:value")
        label = (name, value)
    return Scope(
        project_id=project.pk,
        since=since,
        until=until,
        agent=query.agent,
        model=query.model,
        label=label,
    )


def build_period(scope: Scope) -> dict[str, Any]:
    counted = get_counted_until(project_id=scope.project_id).at
    return {
        "since": format_timestamp(scope.begin),
        "until": format_timestamp(scope.end),
        "counted_until": None if counted is None else format_timestamp(counted),
    }
