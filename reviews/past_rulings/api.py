"""Operations for people's programs: what people decided, and figures about it."""

from __future__ import annotations

from functools import partial

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from ninja import Query, Router

from accounts.api_auth import get_person, get_project
from accounts.selectors import get_role
from common.paging import build_parameter_error, refuse_unknown_parameters
from common.responses import build_csv_headers, build_json_response
from ledger.statistics.requests import read_period
from ledger.writer.db_threads import stream_rows
from reviews.past_rulings.filters import (
    RulingSearch,
    filter_rulings,
    list_ruling_page,
)
from reviews.past_rulings.reviewers import ReviewerPeriod, count_reviewers
from reviews.past_rulings.schemas import (
    ReviewerQuery,
    ReviewerStatisticsOut,
    RulingFilters,
    RulingListQuery,
    RulingPageOut,
)
from reviews.past_rulings.serializers import read_csv, serialize_past_ruling

router = Router(tags=["Reviews"])


@router.get("/rulings", response=RulingPageOut)
def list_rulings(request: HttpRequest, query: Query[RulingListQuery]) -> HttpResponse:
    """Every ruling of the project, with what was ruled on and what came of it."""
    refuse_unknown_parameters(request.GET, RulingListQuery.model_fields)
    search = _build_search(request, query)
    page = list_ruling_page(
        search, sort=query.sort, cursor=query.cursor, limit=query.limit
    )
    at = timezone.now()
    return build_json_response(
        {
            "items": [serialize_past_ruling(row, at) for row in page.rows],
            "next_cursor": page.next_cursor,
            "previous_cursor": page.previous_cursor,
            "total": filter_rulings(search).count(),
        }
    )


@router.get(
    "/rulings.csv",
    openapi_extra={
        "responses": {
            200: {
                "description": "One ruling a line, under a line of names",
                "content": {"text/csv": {"schema": {"type": "string"}}},
            }
        }
    },
)
def list_rulings_as_csv(
    request: HttpRequest, query: Query[RulingFilters]
) -> StreamingHttpResponse:
    """The same as a file. A cell that a spreadsheet would take for a formula begins with
    an apostrophe."""
    refuse_unknown_parameters(request.GET, RulingFilters.model_fields)
    search = _build_search(request, query)
    read = partial(read_csv, search=search, sort=query.sort, at=timezone.now())
    return stream_rows(read, headers=build_csv_headers("rulings.csv"))


@router.get("/stats/reviewers", response=ReviewerStatisticsOut, tags=["Statistics"])
def get_reviewer_statistics(
    request: HttpRequest, query: Query[ReviewerQuery]
) -> HttpResponse:
    """Load, speed and regrets of each person; a reviewer sees only their own."""
    refuse_unknown_parameters(request.GET, ReviewerQuery.model_fields)
    person = get_person(request)
    project = get_project(principal=person, slug=query.project)
    since, until = read_period(query.since, query.until)
    role = get_role(user_id=person.user_id, project_id=project.pk)
    period = ReviewerPeriod(
        project_id=project.pk,
        since=since,
        until=until,
        only=None if role.sees_all else person.user_id,
    )
    return build_json_response(count_reviewers(period).to_json())


def _build_search(request: HttpRequest, query: RulingFilters) -> RulingSearch:
    label = None
    if query.label is not None:
        name, colon, value = query.label.partition(":")
        if not colon or not name:
            raise build_parameter_error("label", "must be name:value")
        label = (name, value)
    project = get_project(principal=get_person(request), slug=query.project)
    return RulingSearch(
        project_id=project.pk,
        by=tuple(query.by),
        actions=tuple(query.action),
        kinds=tuple(query.kind),
        severities=tuple(query.severity),
        agents=tuple(query.agent),
        rules=tuple(query.rule),
        alike_keys=tuple(query.alike),
        label=label,
        since=query.since,
        until=query.until,
        faster_than_ms=query.faster_than_ms,
        regretted=query.regretted,
        outcomes=tuple(query.outcome),
        text=query.q or "",
    )
