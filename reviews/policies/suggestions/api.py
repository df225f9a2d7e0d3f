"""Operations on suggestions: read them, look again, and make a draft of one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router

from accounts.api_auth import get_person
from common.paging import ProjectQuery
from common.responses import build_json_response
from reviews.policies.api import get_read_project
from reviews.policies.schemas import PolicyName
from reviews.policies.serializers import serialize_version
from reviews.policies.suggestions.schemas import (
    SearchIn,
    SuggestedDraftIn,
    SuggestedDraftOut,
    SuggestionsOut,
)
from reviews.policies.suggestions.selectors import (
    get_suggestions,
    serialize_suggestions,
)
from reviews.policies.suggestions.services import create_draft, start_search
from reviews.policies.versions_api import get_managed_project

router = Router(tags=["Policies"])


@router.get("/policies/{name}/suggestions", response=SuggestionsOut)
def list_policy_suggestions(
    request: HttpRequest, name: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """Limits and rules that would have suited people's rulings better."""
    found = get_suggestions(get_read_project(request, query), name)
    return build_json_response(serialize_suggestions(found))


@router.post("/policies/{name}/suggestions", response={202: SuggestionsOut})
def search_policy_suggestions(
    request: HttpRequest, name: Path[PolicyName], body: SearchIn
) -> HttpResponse:
    """Look through the stored history of the last 30 days. Managers only."""
    project = get_managed_project(get_person(request), body.project)
    start_search(project, name)
    found = get_suggestions(project, name)
    return build_json_response(serialize_suggestions(found), status=202)


@router.post(
    "/policies/{name}/suggestions/draft",
    response={201: SuggestedDraftOut},
)
def create_suggested_draft(
    request: HttpRequest, name: Path[PolicyName], body: SuggestedDraftIn
) -> HttpResponse:
    """A version with this one change, and its backtest. It binds nobody. Managers only."""
    person = get_person(request)
    project = get_managed_project(person, body.project)
    draft = create_draft(
        get_suggestions(project, name),
        setting=body.setting,
        person=person,
        note=body.note,
    )
    answer = {
        **serialize_version(draft.version, active=False),
        "backtest": str(draft.backtest.code),
    }
    return build_json_response(answer, status=201)
