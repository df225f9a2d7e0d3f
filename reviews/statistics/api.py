"""Operations for people's programs: figures across runs."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router

from accounts.api_auth import PERSON, get_person, get_project
from common.paging import build_parameter_error, refuse_unknown_parameters
from common.responses import build_json_response
from ledger.chain import format_timestamp
from reviews.statistics.rules import Period, count_violations, rank_rules
from reviews.statistics.schemas import RuleQuery, RuleStatistics

router = Router(auth=PERSON, tags=["Statistics"])
DAYS = 30


@router.get("/stats/rules", response=RuleStatistics)
def get_rule_statistics(request: HttpRequest, query: Query[RuleQuery]) -> HttpResponse:
    """Which rules are broken, how often, how severely, and with how much rework."""
    refuse_unknown_parameters(request.GET, RuleQuery.model_fields)
    project = get_project(principal=get_person(request), slug=query.project)
    until = query.until or timezone.now()
    since = query.since or until - timedelta(days=DAYS)
    if since >= until:
        raise build_parameter_error("since", "must be before until")
    period = Period(project_id=project.pk, since=since, until=until, agent=query.agent)
    return build_json_response(
        {
            "since": format_timestamp(since),
            "until": format_timestamp(until),
            **count_violations(period),
            "rules": rank_rules(period, limit=query.limit),
        }
    )
