"""A backtest as a file: the decisions of the list that is shown, as CSV or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_GET

from common.responses import build_csv_headers, write_csv_head, write_csv_lines
from console.access import ConsoleRequest, require_member
from console.policies.backtest.lists import (
    iterate_chosen,
    list_chosen,
    read_filters,
)
from console.policies.backtest.views import find_backtest
from ledger.chain import format_timestamp
from reviews.models import BacktestItem
from reviews.policies.backtest.selectors import serialize_backtest, serialize_item

COLUMNS = (
    *("at", "agent", "run", "seq", "step", "kind", "subject", "gate", "rule"),
    *("before", "after", "asks", "people", "ruling", "unknown"),
)


@require_GET
@require_member
def export(request: ConsoleRequest, code: UUID, form: str) -> HttpResponse:
    """Streamed: it may be many thousand decisions."""
    backtest = find_backtest(request, code)
    items = iterate_chosen(list_chosen(backtest, read_filters(request.GET)))
    headers = build_csv_headers(f"backtest-{str(code)[-6:]}.{form}")
    if form == "csv":
        lines = _iterate_csv(items)
    else:
        head = json.dumps(serialize_backtest(backtest), ensure_ascii=False)
        lines = _iterate_json(head, items)
        headers["Content-Type"] = "application/json; charset=utf-8"
    # Django's streams are no HttpResponse, though they are sent as such.
    return StreamingHttpResponse(lines, headers=headers)  # type: ignore[return-value]


def _iterate_csv(items: Iterator[BacktestItem]) -> Iterator[str]:
    yield write_csv_head(COLUMNS)
    for item in items:
        row = _build_row(item)
        yield write_csv_lines([[row[name] for name in COLUMNS]])


def _iterate_json(head: str, items: Iterator[BacktestItem]) -> Iterator[str]:
    yield f'{{"backtest": {head}, "items": ['
    comma = ""
    for item in items:
        yield comma + json.dumps(_build_item(item), ensure_ascii=False)
        comma = ",\n"
    yield "]}\n"


def _build_item(item: BacktestItem) -> dict[str, object]:
    """As the API has it; one that is unknown or does not change is not in there."""
    return serialize_item(item) if item.is_change else _build_row(item)


def _build_row(item: BacktestItem) -> dict[str, object]:
    judgements: list[dict[str, object]] = json.loads(item.judgements)
    before, after = judgements or ({}, {})
    return {
        "at": format_timestamp(item.at),
        "agent": item.run.agent.name,
        "run": str(item.run.code),
        "seq": item.seq,
        "step": item.step or None,
        "kind": item.kind,
        "subject": item.subject,
        "gate": item.gate,
        "rule": item.rule,
        "before": before.get("decision"),
        "after": after.get("decision"),
        "asks": item.asks,
        "people": item.people,
        "ruling": item.ruling,
        "unknown": item.unknown,
    }
