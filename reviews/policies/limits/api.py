"""Operations on limits that runs share: read what is used, give more of one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router

from accounts.api_auth import get_person, get_project
from accounts.models import Agent, Role
from accounts.selectors import require_role
from common.paging import list_page_after, refuse_unknown_parameters
from common.responses import build_json_response
from guidance.core.money import parse_usd
from guidance.core.runs.usage import Usage
from reviews.policies.acts import Outcome
from reviews.policies.limits.schemas import LimitPage, LimitQuery, RaisedOut, RaiseIn
from reviews.policies.limits.selectors import (
    ScopeUse,
    list_agent_use,
    list_agents_with_use,
    list_project_use,
    list_scope_use,
)
from reviews.policies.limits.serializers import serialize_use
from reviews.policies.limits.services import Raise, raise_for_good, raise_for_period
from reviews.policies.serializers import serialize_version

router = Router(tags=["Limits"])


@router.get("/limits", response=LimitPage)
def list_limits(request: HttpRequest, query: Query[LimitQuery]) -> HttpResponse:
    """What is used today and this month: of the project, and of each agent today."""
    refuse_unknown_parameters(request.GET, LimitQuery.model_fields)
    project = get_project(principal=get_person(request), slug=query.project)
    at = timezone.now()
    agents, next_cursor = list_page_after(
        list_agents_with_use(project, at=at),
        among=Agent.objects.filter(project=project),
        cursor=query.cursor,
        limit=query.limit,
    )
    uses = [] if query.cursor else list_project_use(project, at=at)
    uses += list_agent_use(project, agents, at=at)
    return build_json_response(
        {"items": list(map(serialize_use, uses)), "next_cursor": next_cursor}
    )


@router.post("/limits/raise", response={200: RaisedOut, 202: RaisedOut})
def raise_limit(request: HttpRequest, body: RaiseIn) -> HttpResponse:
    """Give more of a limit, for the day or month that it is, or for good. Managers only."""
    person = get_person(request)
    project = get_project(principal=person, slug=body.project)
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.MANAGER)
    wanted = Raise(
        scope=body.scope,
        agent=body.agent,
        more=Usage(
            tokens=body.tokens or 0,
            tool_calls=body.tool_calls or 0,
            cost_micros=parse_usd(body.cost_usd or "0"),
        ),
        reason=body.reason,
    )
    agent, outcome = None, None
    if body.for_good:
        outcome = raise_for_good(
            project=project, person=person, wanted=wanted, policy=body.policy
        )
    else:
        agent = raise_for_period(project=project, person=person, wanted=wanted)
    return _answer(
        list_scope_use(project, body.scope, agent=agent, at=timezone.now()), outcome
    )


def _answer(uses: list[ScopeUse], outcome: Outcome | None) -> HttpResponse:
    review = outcome.review if outcome else None
    version = outcome and {
        **serialize_version(outcome.version, active=outcome.activation is not None),
        "review": review,
    }
    return build_json_response(
        {
            "items": list(map(serialize_use, uses)),
            "version": version,
        },
        status=200 if review is None else 202,
    )
