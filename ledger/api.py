"""Reading runs: one, many, their checkpoints and their ledger."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Query, Router

from accounts.api_auth import BEARER_OR_SESSION, get_principal
from accounts.models import SYSTEM_AGENTS
from common.errors import NotFound
from common.ids import parse_code
from common.paging import (
    build_parameter_error,
    list_page_after,
    refuse_unknown_parameters,
)
from common.responses import build_json_response
from guidance.core.vocabulary import INTENTS
from ledger.schemas import (
    CheckpointOut,
    RunFilters,
    RunOut,
    VerifyOut,
)
from ledger.selectors import (
    exclude_system_runs,
    filter_by_label,
    get_visible_run,
    list_visible_runs,
    stream_ledger_lines,
)
from ledger.serializers import serialize_checkpoint, serialize_run, serialize_runs
from ledger.trees.relatives import filter_children
from ledger.verification.row_checks import compare_runs
from ledger.verification.verify import verify_run

router = Router(auth=BEARER_OR_SESSION, tags=["Runs"])


def list_runs(request: HttpRequest, filters: Query[RunFilters]) -> HttpResponse:
    """Newest first; `next_cursor` leads on."""
    refuse_unknown_parameters(request.GET, RunFilters.model_fields)
    runs = visible = list_visible_runs(principal=get_principal(request))
    if filters.status is not None:
        runs = runs.filter(status=filters.status)
    if filters.accepted is not None:
        runs = runs.filter(outcome__accepted=filters.accepted)
    if filters.agent is not None:
        runs = runs.filter(agent__name=filters.agent)
    if filters.agent not in SYSTEM_AGENTS:
        runs = exclude_system_runs(runs)
    if filters.intent is not None:
        if filters.intent not in INTENTS:
            raise build_parameter_error("intent", f"one of {', '.join(INTENTS)}")
        runs = runs.filter(intent=filters.intent)
    if filters.label is not None:
        name, colon, value = filters.label.partition(":")
        if not colon or not name:
            raise build_parameter_error("label", "must be name:value")
        runs = filter_by_label(runs, name=name, value=value)
    if filters.parent is not None:
        parent = parse_code(filters.parent)
        runs = filter_children(runs, parent=parent) if parent else runs.none()
    if filters.q is not None:
        runs = runs.filter(task__icontains=filters.q)
    rows, next_cursor = list_page_after(
        runs, among=visible, cursor=filters.cursor, limit=filters.limit
    )
    return build_json_response(
        {"items": serialize_runs(rows), "next_cursor": next_cursor}
    )


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
    found = get_visible_run(principal=get_principal(request), code=run)
    return StreamingHttpResponse(
        stream_ledger_lines(found),
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Cache-Control": "no-store"},
    )


@router.get("/runs/{run}/verify", response=VerifyOut, tags=["Ledger"])
def get_verification(request: HttpRequest, run: str) -> HttpResponse:
    """Recompute every hash of the run's chain, and compare its rows with it."""
    found = get_visible_run(principal=get_principal(request), code=run)
    result = verify_run(found)
    if result.ok and (differs := compare_runs([found])):
        first = min(differs, key=lambda each: each.seq)
        result = replace(result, first_bad_seq=first.seq, reason=first.reason)
    return build_json_response(
        {
            "ok": result.ok,
            "entries": result.entries,
            "first_bad_seq": result.first_bad_seq,
            "reason": result.reason,
            "head": {"seq": found.head_seq, "hash": found.head_hash},
        }
    )
