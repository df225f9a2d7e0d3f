"""The doors to the loop that are for people alone."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router

from accounts.api_auth import PERSON, person_asking
from common.paging import only_known
from common.responses import json_response, send_reply
from loop.control.clock import loop_wake
from loop.control.switch import loop_switch
from loop.control.worker_hint import hint
from loop.inbox.incidents import incident_resolve
from loop.inbox.recommendations import recommendation_end
from loop.learning.iso_week import Week
from loop.learning.weekly import summary_of
from loop.models import Incident, Recommendation
from loop.schemas.decisions import AcceptedOut
from loop.schemas.fields import ProjectQuery
from loop.schemas.incidents import IncidentOut, ResolveIn
from loop.schemas.recommendations import AdoptIn, RecommendationOut
from loop.schemas.state import LoopStateOut, SummaryOut, SummaryQuery, SwitchIn, WakeIn
from loop.selectors import found, project_meant, standing_of
from loop.serializers import incident_answer, recommendation_answer

router = Router(auth=PERSON, tags=["Loop"])


@router.get("/loop", response=LoopStateOut)
def get_loop(request: HttpRequest, filters: Query[ProjectQuery]) -> HttpResponse:
    """How the loop stands: its switch, its clock, its caps and its budget."""
    only_known(request.GET, ProjectQuery.model_fields)
    person = person_asking(request)
    return json_response(
        standing_of(project_meant(principal=person, slug=filters.project))
    )


@router.get("/loop/summary", response=SummaryOut)
def get_loop_summary(
    request: HttpRequest, filters: Query[SummaryQuery]
) -> HttpResponse:
    """A week of the loop in figures, such as `week=2026-W46`."""
    only_known(request.GET, SummaryQuery.model_fields)
    person = person_asking(request)
    project = project_meant(principal=person, slug=filters.project)
    week = Week.read(filters.week) if filters.week else Week.of(timezone.now())
    summary = summary_of(project.pk, week=week)
    return json_response(summary.to_json(project=project.slug))


@router.post("/loop/heartbeat", response={202: AcceptedOut})
def wake_loop(request: HttpRequest, body: WakeIn | None = None) -> HttpResponse:
    """Have the loop look now (manager)."""
    person = person_asking(request)
    slug = body.project if body else None
    project = project_meant(principal=person, slug=slug)
    answer = loop_wake(project_id=project.pk, person=person)
    hint(project.pk)
    return send_reply(answer)


@router.post("/loop/switch", response=LoopStateOut)
def switch_loop(request: HttpRequest, body: SwitchIn) -> HttpResponse:
    """Pause the loop (anybody), or let it go on (manager)."""
    person = person_asking(request)
    project = project_meant(principal=person, slug=body.project)
    loop_switch(
        project_id=project.pk, person=person, paused=body.paused, reason=body.reason
    )
    return json_response(standing_of(project))


@router.post("/loop/recommendations/{recommendation}/adopt", response=RecommendationOut)
def adopt_recommendation(
    request: HttpRequest, recommendation: str, body: AdoptIn | None = None
) -> HttpResponse:
    """Make it so: publish the policy, or start the loop (manager)."""
    based_on = body.based_on if body else None
    return _end(request, recommendation, adopt=True, based_on=based_on)


@router.post(
    "/loop/recommendations/{recommendation}/dismiss", response=RecommendationOut
)
def dismiss_recommendation(request: HttpRequest, recommendation: str) -> HttpResponse:
    """Leave it (manager)."""
    return _end(request, recommendation, adopt=False)


@router.post("/loop/incidents/{incident}/resolve", response=IncidentOut)
def resolve_incident(
    request: HttpRequest, incident: str, body: ResolveIn
) -> HttpResponse:
    """End an incident by hand; if its condition comes back, that is a new one."""
    person = person_asking(request)
    rows = Incident.objects.select_related("previous")
    row = found(rows, principal=person, code=incident)
    resolved = incident_resolve(incident=row, person=person, note=body.note)
    return json_response(incident_answer(resolved))


def _end(
    request: HttpRequest, code: str, *, adopt: bool, based_on: int | None = None
) -> HttpResponse:
    person = person_asking(request)
    row = found(Recommendation.objects.all(), principal=person, code=code)
    ended = recommendation_end(row=row, person=person, adopt=adopt, based_on=based_on)
    return json_response(recommendation_answer(ended))
