"""Operations for people's programs: what gates decided, and what runs cost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from common.paging import build_parameter_error, refuse_unknown_parameters
from common.responses import (
    build_csv_headers,
    build_json_response,
    write_csv_head,
    write_csv_lines,
)
from guidance.core.money import format_usd
from ledger.chain import format_timestamp
from ledger.statistics.requests import build_period, build_scope
from ledger.statistics.schemas import (
    GateQuery,
    GateStatistics,
    SpendCsvQuery,
    SpendQuery,
    SpendStatistics,
)
from ledger.statistics.selectors import (
    Spend,
    read_counts,
    read_series,
    read_spend,
    read_totals,
)

router = Router(tags=["Statistics"])
# Hours of the longest series by the hour.
HOURS_LIMIT = 24 * 62
# Rows of one file.
CSV_LIMIT = 50_000
_GROUPINGS = ("agent", "model", "run", "day")


@router.get("/stats/gates", response=GateStatistics)
def get_gate_statistics(request: HttpRequest, query: Query[GateQuery]) -> HttpResponse:
    """What was decided about steps and calls, and which gates found something."""
    refuse_unknown_parameters(request.GET, GateQuery.model_fields)
    scope = build_scope(request, query)
    hours = (scope.end - scope.begin) // timedelta(hours=1)
    if query.interval == "hour" and hours > HOURS_LIMIT:
        raise build_parameter_error("interval", "at most 62 days are told by the hour")
    totals = read_totals(scope=scope)
    series = read_series(scope=scope, interval=query.interval)
    return build_json_response(
        {
            **build_period(scope),
            "evaluations": totals.evaluations,
            "decisions": totals.decisions,
            "average_slope": totals.average_slope,
            "findings": read_counts(scope=scope, kind="finding"),
            "paused_by": read_counts(scope=scope, kind="paused_by"),
            "calls": totals.call_decisions,
            "call_findings": read_counts(scope=scope, kind="call_finding"),
            "series": [
                {"at": format_timestamp(at), "decisions": each.decisions}
                for at, each in series
            ],
        }
    )


@router.get("/stats/spend", response=SpendStatistics)
def get_spend_statistics(
    request: HttpRequest, query: Query[SpendQuery]
) -> HttpResponse:
    """What runs used up, by agent, model, label, run or day."""
    refuse_unknown_parameters(request.GET, SpendQuery.model_fields)
    scope = build_scope(request, query)
    check_grouping(query)
    limit = None if query.by == "day" else query.limit
    items = read_spend(scope=scope, by=query.by, limit=limit)
    totals = read_totals(scope=scope)
    return build_json_response(
        {
            **build_period(scope),
            "by": query.by,
            "total": {
                "runs": totals.runs_started,
                "steps": totals.steps,
                "tokens": totals.tokens,
                "tool_calls": totals.tool_calls,
                "cost_usd": format_usd(totals.cost_micros),
            },
            "items": [_serialize_spend(each, by=query.by) for each in items],
        }
    )


@router.get(
    "/stats/spend.csv",
    openapi_extra={
        "responses": {
            200: {
                "description": "One line for each key, behind a header",
                "content": {"text/csv": {"schema": {"type": "string"}}},
            }
        }
    },
)
def get_spend_csv(request: HttpRequest, query: Query[SpendCsvQuery]) -> HttpResponse:
    """The same as a table for spreadsheets."""
    refuse_unknown_parameters(request.GET, SpendCsvQuery.model_fields)
    scope = build_scope(request, query)
    check_grouping(query)
    rows = [
        _serialize_spend(each, by=query.by)
        for each in read_spend(scope=scope, by=query.by, limit=CSV_LIMIT)
    ]
    header = ["key", "runs", "steps", "tokens", "tool_calls", "cost_usd"]
    header += ["task", "agent"] if query.by == "run" else []
    lines = write_csv_lines([row[name] for name in header] for row in rows)
    return HttpResponse(
        write_csv_head(header) + lines, headers=build_csv_headers("spend.csv")
    )


def check_grouping(query: SpendCsvQuery) -> None:
    by_label = query.by.startswith("label:") and query.by != "label:"
    if query.by not in _GROUPINGS and not by_label:
        raise build_parameter_error("by", "agent, model, label:<name>, run or day")
    if by_label and query.label is not None:
        # Figures are kept for each label by itself, not for two of them together.
        raise build_parameter_error("label", "not together with by=label")


def _serialize_spend(spend: Spend, *, by: str) -> dict[str, Any]:
    of_run = {"task": spend.task, "agent": spend.agent} if by == "run" else {}
    return {
        "key": spend.key,
        "runs": spend.runs,
        "steps": spend.steps,
        "tokens": spend.tokens,
        "tool_calls": spend.tool_calls,
        "cost_usd": format_usd(spend.cost_micros),
        **of_run,
    }
