"""Reading runs: one, many, their checkpoints and their ledger."""

from __future__ import annotations

from functools import partial

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Query, Router

from accounts.api_auth import get_principal
from common.errors import NotFound
from common.paging import build_parameter_error, refuse_unknown_parameters
from common.responses import build_csv_headers, build_json_response
from ledger.run_list.csv_export import read_csv
from ledger.run_list.paging import list_page, parse_cursor
from ledger.run_list.parameters import build_filter, build_sort
from ledger.run_list.scope import get_scope
from ledger.schemas import (
    CheckpointOut,
    RunExportFilters,
    RunFilters,
    RunOut,
    VerifyOut,
)
from ledger.selectors import get_visible_run, read_ledger_lines
from ledger.serializers import (
    RUN_RELATED,
    serialize_checkpoint,
    serialize_run,
    serialize_runs,
)
from ledger.verification.exports import record_export
from ledger.verification.verify import verify_run_and_rows
from ledger.writer.db_threads import stream_rows

router = Router(tags=["Runs"])
_NDJSON = {
    "Content-Type": "application/x-ndjson; charset=utf-8",
    "Cache-Control": "no-store",
}


def list_runs(request: HttpRequest, filters: Query[RunFilters]) -> HttpResponse:
    """Newest first unless `sort` says otherwise; the cursors lead on and back."""
    refuse_unknown_parameters(request.GET, RunFilters.model_fields)
    scope = get_scope(get_principal(request))
    sort = build_sort(filters)
    position = None
    if filters.cursor is not None:
        position = parse_cursor(filters.cursor, scope=scope, sort=sort)
        if position is None:
            raise build_parameter_error(
                "cursor", "not a cursor that this list gave out in this order"
            )
    page = list_page(
        scope=scope,
        wanted=build_filter(filters),
        sort=sort,
        position=position,
        limit=filters.limit,
        related=RUN_RELATED,
    )
    return build_json_response(
        {
            "items": serialize_runs(page.runs),
            "next_cursor": page.next_cursor,
            "previous_cursor": page.previous_cursor,
        }
    )


@router.get(
    "/runs.csv",
    openapi_extra={
        "responses": {
            200: {
                "description": "A head, and a line for each run",
                "content": {"text/csv": {"schema": {"type": "string"}}},
            }
        }
    },
)
def stream_runs(
    request: HttpRequest, filters: Query[RunExportFilters]
) -> StreamingHttpResponse:
    """The runs that `GET /runs` lists, all of its pages, as CSV."""
    refuse_unknown_parameters(request.GET, RunExportFilters.model_fields)
    read = partial(
        read_csv,
        scope=get_scope(get_principal(request)),
        wanted=build_filter(filters),
        sort=build_sort(filters),
    )
    return stream_rows(read, headers=build_csv_headers("runs.csv"))


@router.get("/runs/{run}", response=RunOut)
def get_run(request: HttpRequest, run: str) -> HttpResponse:
    """One run as it stands."""
    found = get_visible_run(principal=get_principal(request), code=run)
    return build_json_response(serialize_run(found))


@router.get("/runs/{run}/checkpoints/latest", response=CheckpointOut)
def get_latest_checkpoint(request: HttpRequest, run: str) -> HttpResponse:
    """Where to go on after a crash or a pause."""
    found = get_visible_run(principal=get_principal(request), code=run)
    checkpoint = found.checkpoints.order_by("-pk").first()
    if checkpoint is None:
        raise NotFound("This run has saved no checkpoint yet.")
    return build_json_response(
        serialize_checkpoint(checkpoint, run_code=str(found.code))
    )


@router.get(
    "/runs/{run}/ledger",
    tags=["Ledger"],
    openapi_extra={
        "responses": {
            200: {
                "description": "One entry a line, in their order",
                "content": {
                    "application/x-ndjson": {
                        "schema": {
                            "type": "string",
                            "description": "Each line is a `LedgerEntry`.",
                            "contentMediaType": "application/x-ndjson",
                            "contentSchema": {
                                "$ref": "#/components/schemas/LedgerEntry"
                            },
                        }
                    }
                },
            }
        }
    },
)
def get_ledger(request: HttpRequest, run: str) -> StreamingHttpResponse:
    """The run's whole chain as NDJSON, one entry a line."""
    principal = get_principal(request)
    found = get_visible_run(principal=principal, code=run)
    record_export(found, principal=principal)
    return stream_rows(partial(read_ledger_lines, run=found), headers=_NDJSON)


@router.get("/runs/{run}/verify", response=VerifyOut, tags=["Ledger"])
def get_verification(request: HttpRequest, run: str) -> HttpResponse:
    """Recompute every hash of the run's chain, and compare its rows with it."""
    found = get_visible_run(principal=get_principal(request), code=run)
    result = verify_run_and_rows(found)
    return build_json_response(
        {
            "ok": result.ok,
            "entries": result.entries,
            "first_bad_seq": result.first_bad_seq,
            "reason": result.reason,
            "head": {"seq": found.head_seq, "hash": found.head_hash},
        }
    )
