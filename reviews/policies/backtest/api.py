"""Operations on backtests: try a draft, look at what it changes, cancel it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router

from accounts.api_auth import (
    get_person,
    get_project,
)
from accounts.models import Project, Role
from accounts.selectors import require_role
from common.errors import Invalid
from common.paging import list_page_after, refuse_unknown_parameters
from common.responses import build_json_response
from guidance.validation import Fault, check_document, check_yaml
from reviews.policies.backtest.schemas import (
    BacktestIn,
    BacktestItemPage,
    BacktestOut,
    BacktestStarted,
    ItemFilters,
)
from reviews.policies.backtest.selectors import (
    get_visible_backtest,
    list_items,
    serialize_backtest,
    serialize_item,
)
from reviews.policies.backtest.services import Period, cancel_backtest, start_backtest
from reviews.policies.schemas import PolicyName
from reviews.policies.selectors import get_version, read_document

router = Router(tags=["Policies"])


@router.post("/policies/{name}/backtest", response={202: BacktestStarted})
def start_policy_backtest(
    request: HttpRequest, name: Path[PolicyName], body: BacktestIn
) -> HttpResponse:
    """Judge stored history again by a draft. Managers only."""
    person = get_person(request)
    project = get_project(principal=person, slug=body.project)
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.MANAGER)
    backtest = start_backtest(
        project=project,
        user_id=person.user_id,
        policy=name,
        document=_read_document(project, name, body),
        version=body.version,
        period=Period(
            since=body.since,
            until=body.until,
            agent=body.agent,
            run=body.run,
            all_runs=body.runs == "all",
            limit=body.limit,
        ),
    )
    return build_json_response({"id": str(backtest.code)}, status=202)


@router.get("/backtests/{backtest}", response=BacktestOut)
def get_backtest(request: HttpRequest, backtest: str) -> HttpResponse:
    """How far it came, and what would have been decided otherwise."""
    found = get_visible_backtest(person=get_person(request), code=backtest)
    return build_json_response(serialize_backtest(found))


@router.get("/backtests/{backtest}/items", response=BacktestItemPage)
def list_backtest_items(
    request: HttpRequest, backtest: str, filters: Query[ItemFilters]
) -> HttpResponse:
    """The decisions that change, with both judgements; `next_cursor` leads on."""
    refuse_unknown_parameters(request.GET, ItemFilters.model_fields)
    found = get_visible_backtest(person=get_person(request), code=backtest)
    wanted = filters.model_dump(exclude={"cursor", "limit"})
    rows = list_items(found, **wanted)
    page, next_cursor = list_page_after(
        rows, among=found.items.all(), cursor=filters.cursor, limit=filters.limit
    )
    return build_json_response(
        {
            "items": [serialize_item(item) for item in page],
            "next_cursor": next_cursor,
            "total": rows.count(),
        }
    )


@router.post("/backtests/{backtest}/cancel", response=BacktestOut)
def cancel_policy_backtest(request: HttpRequest, backtest: str) -> HttpResponse:
    """End it; what was found so far stays. Managers only."""
    person = get_person(request)
    found = get_visible_backtest(person=person, code=backtest)
    require_role(user_id=person.user_id, project_id=found.project_id, role=Role.MANAGER)
    return build_json_response(serialize_backtest(cancel_backtest(found)))


def _read_document(project: Project, name: str, body: BacktestIn) -> Mapping[str, Any]:
    if body.version is not None:
        return read_document(get_version(project, name, body.version))
    checked = (
        check_document(body.document) if body.yaml is None else check_yaml(body.yaml)
    )
    if checked.faults:
        source = "document" if body.yaml is None else "yaml"
        raise Invalid(
            "The draft is no policy: see the errors.",
            errors=[
                {"loc": [source, *fault.loc], "message": _describe(fault)}
                for fault in checked.faults
            ],
        )
    return checked.document


def _describe(fault: Fault) -> str:
    if fault.place is None:
        return fault.message
    line, column = fault.place
    return f"{fault.message} (line {line}, column {column})"
