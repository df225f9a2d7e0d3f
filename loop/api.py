"""The doors to the loop: signals in, decisions out, and what people do with both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import BEARER_OR_SESSION, principal_of
from accounts.auth import AgentPrincipal
from common.paging import only_known, page_after
from common.responses import json_response, send_reply
from gateway.api.support import keyed
from ledger.idempotency import Idempotency
from loop.control.worker_hint import hint
from loop.cycle.drafting import build_drafter
from loop.inbox.notes import note_add, note_end
from loop.inbox.outcomes import outcome_report
from loop.inbox.recommendations import recommendation_add
from loop.inbox.triggers import signal_accept
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
    decision_found,
    found,
    project_meant,
    seen_by,
)
from loop.serializers import (
    decision_answer,
    incident_answer,
    note_answer,
    recommendation_answer,
)

M = TypeVar("M", bound=Model)
router = Router(auth=BEARER_OR_SESSION, tags=["Loop"])


@router.post("/loop/signals", response={202: AcceptedOut})
def send_signal(request: HttpRequest, body: SignalIn) -> HttpResponse:
    """Tell the loop that something ended or came in; it decides what follows."""
    principal = principal_of(request)
    project = project_meant(principal=principal, slug=body.project)
    answer = signal_accept(
        project_id=project.pk,
        principal=principal,
        type=body.type,
        data=body.data,
        dedupe_key=body.dedupe_key,
        idempotency=_key(request, status=202),
    )
    hint(project.pk)
    return send_reply(answer)


@router.post("/loop/notes", response={201: NoteOut})
def add_loop_note(request: HttpRequest, body: NoteIn) -> HttpResponse:
    """Put a note into the queue; `decision_id` is that of the look it leads to."""
    principal = principal_of(request)
    project = project_meant(principal=principal, slug=body.project)
    answer = note_add(
        project_id=project.pk,
        principal=principal,
        text=body.text,
        data=body.data,
        idempotency=_key(request, status=201),
    )
    hint(project.pk)
    return send_reply(answer)


@router.post("/loop/notes/{note}/done", response=NoteOut)
def confirm_loop_note(request: HttpRequest, note: str, body: NoteEndIn) -> HttpResponse:
    """A claimed note was worked through."""
    return _end_note(request, note, NoteState.DONE, body)


@router.post("/loop/notes/{note}/failed", response=NoteOut)
def fail_loop_note(request: HttpRequest, note: str, body: NoteEndIn) -> HttpResponse:
    """A claimed note could not be worked through."""
    return _end_note(request, note, NoteState.FAILED, body)


@router.post("/loop/recommendations", response={201: RecommendationOut})
def add_recommendation(request: HttpRequest, body: RecommendationIn) -> HttpResponse:
    """Recommend a change; the loop makes a draft, and a manager adopts it or not."""
    principal = principal_of(request)
    project = project_meant(principal=principal, slug=body.project)
    return send_reply(
        recommendation_add(
            project_id=project.pk,
            principal=principal,
            title=body.title,
            detail=body.detail,
            change=body.change.model_dump(mode="json"),
            idempotency=_key(request, status=201),
        )
    )


@router.get("/loop/decisions", response=LoopDecisionPage)
def list_loop_decisions(
    request: HttpRequest, filters: Query[DecisionFilters]
) -> HttpResponse:
    """Newest first; `next_cursor` leads on."""
    rows = Decision.objects.select_related(*DECISION_RELATED)
    same = ("outcome", "action", "trigger_source")
    wanted = {name: value for name in same if (value := getattr(filters, name))}
    return _page(request, filters, rows, decision_answer, **wanted)


@router.get("/loop/decisions/{decision_id}", response=LoopDecisionOut)
def get_loop_decision(request: HttpRequest, decision_id: str) -> HttpResponse:
    """One decision, with all it was made on. Absent until it is made."""
    principal = principal_of(request)
    return json_response(
        decision_answer(decision_found(principal=principal, code=decision_id))
    )


@router.post("/loop/decisions/{decision_id}/outcome", response=LoopDecisionOut)
def report_loop_outcome(
    request: HttpRequest, decision_id: str, body: OutcomeIn
) -> HttpResponse:
    """Tell what came of a decision's event."""
    principal = principal_of(request)
    decision = decision_found(principal=principal, code=decision_id)
    report = body.model_dump(mode="json")
    return send_reply(
        outcome_report(
            decision=decision,
            principal=principal,
            report=report,
            idempotency=_key(request, status=200),
        )
    )


@router.get("/loop/notes", response=NotePage)
def list_loop_notes(request: HttpRequest, filters: Query[NoteFilters]) -> HttpResponse:
    """Newest first; `next_cursor` leads on."""
    wanted = {"state": filters.state} if filters.state else {}
    return _page(request, filters, Note.objects.all(), note_answer, **wanted)


@router.get("/loop/recommendations", response=RecommendationPage)
def list_recommendations(
    request: HttpRequest, filters: Query[RecommendationFilters]
) -> HttpResponse:
    """Newest first; `next_cursor` leads on."""
    wanted = {"state": filters.state} if filters.state else {}
    rows = Recommendation.objects.all()
    draft = build_drafter()

    def answer(row: Recommendation) -> dict[str, Any]:
        return recommendation_answer(row, draft=draft(row))

    return _page(request, filters, rows, answer, **wanted)


@router.get("/loop/incidents", response=IncidentPage)
def list_incidents(
    request: HttpRequest, filters: Query[IncidentFilters]
) -> HttpResponse:
    """Newest first; `next_cursor` leads on."""
    wanted: dict[str, Any] = {}
    if filters.state is not None:
        wanted["resolved_at__isnull"] = filters.state == "open"
    rows = Incident.objects.select_related("previous")
    return _page(request, filters, rows, incident_answer, **wanted)


def _page(
    request: HttpRequest,
    filters: LoopQuery,
    rows: QuerySet[M],
    answer: Callable[[M], dict[str, Any]],
    **wanted: Any,
) -> HttpResponse:
    only_known(request.GET, type(filters).model_fields)
    visible = seen_by(rows, principal=principal_of(request), slug=filters.project)
    page, next_cursor = page_after(
        visible.filter(**wanted),
        among=visible,
        cursor=filters.cursor,
        limit=filters.limit,
    )
    items = [answer(row) for row in page]
    return json_response({"items": items, "next_cursor": next_cursor})


def _end_note(
    request: HttpRequest, code: str, state: NoteState, body: NoteEndIn
) -> HttpResponse:
    principal = principal_of(request)
    note = found(Note.objects.all(), principal=principal, code=code)
    return send_reply(
        note_end(
            note=note,
            principal=principal,
            state=state,
            reason=body.reason,
            idempotency=_key(request, status=200),
        )
    )


def _key(request: HttpRequest, *, status: int) -> Idempotency | None:
    """Agents may send an Idempotency-Key; people's programs have none."""
    if not isinstance(principal_of(request), AgentPrincipal):
        return None
    return keyed(request, status=status)
