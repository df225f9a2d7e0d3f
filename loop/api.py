"""The loop's API for agents and people: signals, decisions, notes, recommendations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import (
    get_principal,
    get_project,
    refuse_auditor,
)
from accounts.auth import AgentPrincipal
from common.paging import list_page_after, refuse_unknown_parameters
from common.responses import build_json_response, send_reply
from gateway.api.support import get_idempotency
from ledger.idempotency import Idempotency
from loop.control.worker_hint import send_hint
from loop.cycle.drafting import build_drafter
from loop.inbox import recommendations
from loop.inbox.notes import add_note, end_note
from loop.inbox.outcomes import report_outcome
from loop.inbox.triggers import accept_signal
from loop.models import Decision, Incident, Note, NoteState, Recommendation
from loop.schemas.decisions import (
    AcceptedOut,
    DecisionFilters,
    LoopDecisionOut,
    LoopDecisionPage,
    OutcomeIn,
    SignalIn,
)
from loop.schemas.fields import LoopQuery
from loop.schemas.incidents import IncidentFilters, IncidentPage
from loop.schemas.notes import NoteEndIn, NoteFilters, NoteIn, NoteOut, NotePage
from loop.schemas.recommendations import (
    RecommendationFilters,
    RecommendationIn,
    RecommendationOut,
    RecommendationPage,
)
from loop.selectors import (
    DECISION_RELATED,
    filter_visible,
    get_decision,
    get_visible,
)
from loop.serializers import (
    serialize_decision,
    serialize_incident,
    serialize_note,
    serialize_recommendation,
)

M = TypeVar("M", bound=Model)
router = Router(tags=["Loop"])


@router.post("/loop/signals", response={202: AcceptedOut})
def send_signal(request: HttpRequest, body: SignalIn) -> HttpResponse:
    """Tell the loop that something happened; it decides what follows."""
    principal = get_principal(request)
    project = get_project(principal=principal, slug=body.project)
    refuse_auditor(principal=principal, project_id=project.pk)
    answer = accept_signal(
        project_id=project.pk,
        principal=principal,
        type=body.type,
        data=body.data,
        dedupe_key=body.dedupe_key,
        idempotency=_get_idempotency(request),
    )
    send_hint(project.pk)
    return send_reply(answer)


@router.post("/loop/notes", response={201: NoteOut})
def add_loop_note(request: HttpRequest, body: NoteIn) -> HttpResponse:
    """Put a note into the queue; `decision_id` is the id of the decision it leads to."""
    principal = get_principal(request)
    project = get_project(principal=principal, slug=body.project)
    refuse_auditor(principal=principal, project_id=project.pk)
    answer = add_note(
        project_id=project.pk,
        principal=principal,
        text=body.text,
        data=body.data,
        idempotency=_get_idempotency(request),
    )
    send_hint(project.pk)
    return send_reply(answer)


@router.post("/loop/notes/{note}/done", response=NoteOut)
def confirm_loop_note(request: HttpRequest, note: str, body: NoteEndIn) -> HttpResponse:
    """Confirm that a claimed note was processed."""
    return _end_note(request, note, NoteState.DONE, body)


@router.post("/loop/notes/{note}/failed", response=NoteOut)
def fail_loop_note(request: HttpRequest, note: str, body: NoteEndIn) -> HttpResponse:
    """Report that a claimed note could not be processed."""
    return _end_note(request, note, NoteState.FAILED, body)


@router.post("/loop/recommendations", response={201: RecommendationOut})
def add_recommendation(request: HttpRequest, body: RecommendationIn) -> HttpResponse:
    """Recommend a change; the loop drafts it, and a manager adopts or dismisses it."""
    principal = get_principal(request)
    project = get_project(principal=principal, slug=body.project)
    refuse_auditor(principal=principal, project_id=project.pk)
    return send_reply(
        recommendations.add_recommendation(
            project_id=project.pk,
            principal=principal,
            title=body.title,
            detail=body.detail,
            change=body.change.model_dump(mode="json"),
            idempotency=_get_idempotency(request),
        )
    )


@router.get("/loop/decisions", response=LoopDecisionPage)
def list_loop_decisions(
    request: HttpRequest, filters: Query[DecisionFilters]
) -> HttpResponse:
    """Newest first; `next_cursor` is the cursor of the next page."""
    rows = Decision.objects.select_related(*DECISION_RELATED)
    same = ("outcome", "action", "trigger_source")
    wanted = {name: value for name in same if (value := getattr(filters, name))}
    serialize = partial(serialize_decision, reader=get_principal(request))
    return _build_page(request, filters, rows, serialize, **wanted)


@router.get("/loop/decisions/{decision_id}", response=LoopDecisionOut)
def get_loop_decision(request: HttpRequest, decision_id: str) -> HttpResponse:
    """One decision, with everything it was made on; 404 until it is made."""
    principal = get_principal(request)
    found = get_decision(principal=principal, code=decision_id)
    return build_json_response(serialize_decision(found, reader=principal))


@router.post("/loop/decisions/{decision_id}/outcome", response=LoopDecisionOut)
def report_loop_outcome(
    request: HttpRequest, decision_id: str, body: OutcomeIn
) -> HttpResponse:
    """Report what came of a decision's event."""
    principal = get_principal(request)
    decision = get_decision(principal=principal, code=decision_id)
    refuse_auditor(principal=principal, project_id=decision.project_id)
    report = body.model_dump(mode="json")
    return send_reply(
        report_outcome(
            decision=decision,
            principal=principal,
            report=report,
            idempotency=_get_idempotency(request),
        )
    )


@router.get("/loop/notes", response=NotePage)
def list_loop_notes(request: HttpRequest, filters: Query[NoteFilters]) -> HttpResponse:
    """Newest first; `next_cursor` is the cursor of the next page."""
    wanted = {"state": filters.state} if filters.state else {}
    return _build_page(request, filters, Note.objects.all(), serialize_note, **wanted)


@router.get("/loop/recommendations", response=RecommendationPage)
def list_recommendations(
    request: HttpRequest, filters: Query[RecommendationFilters]
) -> HttpResponse:
    """Newest first; `next_cursor` is the cursor of the next page."""
    wanted = {"state": filters.state} if filters.state else {}
    rows = Recommendation.objects.all()
    draft = build_drafter()

    def serialize(row: Recommendation) -> dict[str, Any]:
        return serialize_recommendation(row, draft=draft(row))

    return _build_page(request, filters, rows, serialize, **wanted)


@router.get("/loop/incidents", response=IncidentPage)
def list_incidents(
    request: HttpRequest, filters: Query[IncidentFilters]
) -> HttpResponse:
    """Newest first; `next_cursor` is the cursor of the next page."""
    wanted: dict[str, Any] = {}
    if filters.state is not None:
        wanted["resolved_at__isnull"] = filters.state == "open"
    rows = Incident.objects.select_related("previous")
    return _build_page(request, filters, rows, serialize_incident, **wanted)


def _build_page(
    request: HttpRequest,
    filters: LoopQuery,
    rows: QuerySet[M],
    serialize: Callable[[M], dict[str, Any]],
    **wanted: Any,
) -> HttpResponse:
    refuse_unknown_parameters(request.GET, type(filters).model_fields)
    visible = filter_visible(
        rows, principal=get_principal(request), slug=filters.project
    )
    page, next_cursor = list_page_after(
        visible.filter(**wanted),
        among=visible,
        cursor=filters.cursor,
        limit=filters.limit,
    )
    items = [serialize(row) for row in page]
    return build_json_response({"items": items, "next_cursor": next_cursor})


def _end_note(
    request: HttpRequest, code: str, state: NoteState, body: NoteEndIn
) -> HttpResponse:
    principal = get_principal(request)
    note = get_visible(Note.objects.all(), principal=principal, code=code)
    refuse_auditor(principal=principal, project_id=note.project_id)
    return send_reply(
        end_note(
            note=note,
            principal=principal,
            state=state,
            reason=body.reason,
            idempotency=_get_idempotency(request),
        )
    )


def _get_idempotency(request: HttpRequest) -> Idempotency | None:
    """The request's Idempotency-Key, which only agents may send."""
    if not isinstance(get_principal(request), AgentPrincipal):
        return None
    return get_idempotency(request)
