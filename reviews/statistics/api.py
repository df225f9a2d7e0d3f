"""Operations for people's programs: figures across runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import get_person, get_project
from common.paging import refuse_unknown_parameters
from common.responses import build_json_response
from ledger.chain import format_timestamp
from ledger.statistics.requests import build_period, build_scope, read_period
from reviews.statistics.attention import Attention, read_attention
from reviews.statistics.rules import Period, count_violations, rank_rules
from reviews.statistics.schemas import (
    ReviewQuery,
    ReviewStatistics,
    RuleQuery,
    RuleStatistics,
)
from reviews.statistics.selectors import (
    KindCounts,
    TimeToRuling,
    read_review_counts,
    read_rule_counts,
    read_time_to_ruling,
    read_time_to_ruling_by_kind,
)

router = Router(tags=["Statistics"])


@router.get("/stats/rules", response=RuleStatistics)
def get_rule_statistics(request: HttpRequest, query: Query[RuleQuery]) -> HttpResponse:
    """Which rules are broken, how often, how severely, and with how much rework."""
    refuse_unknown_parameters(request.GET, RuleQuery.model_fields)
    project = get_project(principal=get_person(request), slug=query.project)
    since, until = read_period(query.since, query.until)
    period = Period(project_id=project.pk, since=since, until=until, agent=query.agent)
    return build_json_response(
        {
            "since": format_timestamp(since),
            "until": format_timestamp(until),
            **count_violations(period),
            "rules": rank_rules(period, limit=query.limit),
        }
    )


@router.get("/stats/reviews", response=ReviewStatistics)
def get_review_statistics(
    request: HttpRequest, query: Query[ReviewQuery]
) -> HttpResponse:
    """How many reviews were opened, what was ruled, and how long people took."""
    refuse_unknown_parameters(request.GET, ReviewQuery.model_fields)
    scope = build_scope(request, query)
    kinds = read_review_counts(scope=scope)
    times = read_time_to_ruling_by_kind(scope=scope)
    ruled: Counter[str] = Counter()
    for counts in kinds.values():
        ruled.update(counts.ruled)
    return build_json_response(
        {
            **build_period(scope),
            "opened": sum(counts.opened for counts in kinds.values()),
            "ruled": dict(ruled),
            "expired": sum(counts.expired for counts in kinds.values()),
            "time_to_ruling_ms": _serialize_times(read_time_to_ruling(scope=scope)),
            "by_kind": {
                kind: _serialize_kind(counts, times.get(kind))
                for kind, counts in kinds.items()
            },
            "by_rule": read_rule_counts(scope=scope),
            **_serialize_attention(read_attention(scope=scope)),
        }
    )


def _serialize_attention(attention: Attention) -> dict[str, Any]:
    gates, model = attention.gates, attention.model
    return {
        "interruptions": {
            "reviews": attention.reviews,
            "agent_hours": round(attention.running_hours, 4),
            "per_agent_hour": _round(attention.per_hour),
        },
        "not_asked": dict(attention.not_asked),
        "disagreement": {
            "with_gates": {
                "ruled": gates.ruled,
                **asdict(gates),
                "share": _round(gates.share),
            },
            "with_model": {**asdict(model), "share": _round(model.share)},
        },
    }


def _round(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 4)


def _serialize_kind(counts: KindCounts, times: TimeToRuling | None) -> dict[str, Any]:
    return {**counts._asdict(), "time_to_ruling_ms": _serialize_times(times)}


def _serialize_times(times: TimeToRuling | None) -> dict[str, int | None]:
    if times is None:
        return {"p50": None, "p90": None, "p99": None}
    return {
        name: getattr(times, name) // timedelta(milliseconds=1)
        for name in ("p50", "p90", "p99")
    }
