"""A backtest as a file: the decisions of the list that is shown, as CSV or JSON."""

from __future__ import annotations

import json
from functools import partial
from uuid import UUID

from django.db.models import Max
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from common.responses import build_csv_headers, write_csv_head, write_csv_lines
from console.access import ConsoleRequest
from console.policies.backtest.lists import (
    Items,
    list_chosen,
    read_filters,
)
from console.policies.backtest.views import find_backtest
from ledger.chain import format_timestamp
from ledger.writer.db_threads import stream_rows
from reviews.models import BacktestItem
from reviews.policies.backtest.selectors import serialize_backtest, serialize_item

COLUMNS = (
    *("at", "agent", "run", "seq", "step", "kind", "subject", "gate", "rule"),
    *("before", "after", "asks", "people", "ruling", "unknown"),
)
_ROWS = 500


@require_GET
def export(request: ConsoleRequest, code: UUID, form: str) -> HttpResponse:
    """Streamed: it may be many thousand decisions, and more while it is sent."""
    backtest = find_backtest(request, code)
    newest = backtest.items.aggregate(newest=Max("pk"))["newest"]
    items = list_chosen(backtest, read_filters(request.GET), newest=newest or 0)
    headers = build_csv_headers(f"backtest-{str(code)[-6:]}.{form}")
    if form == "csv":
        read = partial(_read_csv, items=items)
    else:
        head = json.dumps(serialize_backtest(backtest), ensure_ascii=False)
        read = partial(_read_json, items=items, head=head)
        headers["Content-Type"] = "application/json; charset=utf-8"
    # Django's streams are no HttpResponse, though they are sent as such.
    return stream_rows(read, headers=headers)  # type: ignore[return-value]


def _read_csv(first: int | None, *, items: Items) -> tuple[str, int | None]:
    page, following = _read_page(items, first or 0)
    rows = map(_build_row, page)
    lines = write_csv_lines([row[name] for name in COLUMNS] for row in rows)
    return ("" if first else write_csv_head(COLUMNS)) + lines, following


def _read_json(first: int | None, *, items: Items, head: str) -> tuple[str, int | None]:
    page, following = _read_page(items, first or 0)
    written = [json.dumps(_build_item(item), ensure_ascii=False) for item in page]
    before = ",\n" if first and written else ""
    if not first:
        before = f'{{"backtest": {head}, "items": ['
    return before + ",\n".join(written) + ("" if following else "]}\n"), following


def _read_page(items: Items, first: int) -> tuple[list[BacktestItem], int | None]:
    page = list(items[first : first + _ROWS])
    return page, first + _ROWS if len(page) == _ROWS else None


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
