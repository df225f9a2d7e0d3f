"""The loop's API for people: its state, its switch, and rulings on what it found."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router

from accounts.api_auth import get_person, get_project, refuse_auditor
from common.paging import ProjectQuery, refuse_unknown_parameters
from common.responses import build_json_response, send_reply
from loop.control import clock
from loop.control.switch import set_paused
from loop.control.worker_hint import send_hint
from loop.inbox import incidents
from loop.inbox.recommendations import end_recommendation
from loop.learning.iso_week import Week
from loop.learning.weekly import build_summary
from loop.models import Incident, Recommendation
from loop.schemas.decisions import AcceptedOut
from loop.schemas.incidents import IncidentOut, ResolveIn
from loop.schemas.recommendations import AdoptIn, RecommendationOut
from loop.schemas.state import LoopStateOut, SummaryOut, SummaryQuery, SwitchIn, WakeIn
from loop.selectors import get_loop_state, get_visible
from loop.serializers import serialize_incident, serialize_recommendation

router = Router(tags=["Loop"])


@router.get("/loop", response=LoopStateOut)
def get_loop(request: HttpRequest, filters: Query[ProjectQuery]) -> HttpResponse:
    """The loop's current state: its switch, its clock, its caps and its budget."""
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    person = get_person(request)
    return build_json_response(
        get_loop_state(get_project(principal=person, slug=filters.project))
    )


@router.get("/loop/summary", response=SummaryOut)
def get_loop_summary(
    request: HttpRequest, filters: Query[SummaryQuery]
) -> HttpResponse:
    """Figures of one week, such as `week=2026-W46`."""
    refuse_unknown_parameters(request.GET, SummaryQuery.model_fields)
    person = get_person(request)
    project = get_project(principal=person, slug=filters.project)
    week = (
        Week.parse(filters.week) if filters.week else Week.from_moment(timezone.now())
    )
    summary = build_summary(project.pk, week=week)
    return build_json_response(summary.to_json(project=project.slug))


@router.post("/loop/heartbeat", response={202: AcceptedOut})
def wake_loop(request: HttpRequest, body: WakeIn | None = None) -> HttpResponse:
    """Run the loop now (manager)."""
    person = get_person(request)
    slug = body.project if body else None
    project = get_project(principal=person, slug=slug)
    answer = clock.wake_loop(project_id=project.pk, person=person)
    send_hint(project.pk)
    return send_reply(answer)


@router.post("/loop/switch", response=LoopStateOut)
def switch_loop(request: HttpRequest, body: SwitchIn) -> HttpResponse:
    """Pause the loop (reviewer) or resume it (manager)."""
    person = get_person(request)
    project = get_project(principal=person, slug=body.project)
    set_paused(
        project_id=project.pk, person=person, paused=body.paused, reason=body.reason
    )
    return build_json_response(get_loop_state(project))


@router.post("/loop/recommendations/{recommendation}/adopt", response=RecommendationOut)
def adopt_recommendation(
    request: HttpRequest, recommendation: str, body: AdoptIn | None = None
) -> HttpResponse:
    """Publish the policy, or start the loop, that it recommends (manager)."""
    based_on = body.based_on if body else None
    return _end(request, recommendation, adopt=True, based_on=based_on)


@router.post(
    "/loop/recommendations/{recommendation}/dismiss", response=RecommendationOut
)
def dismiss_recommendation(request: HttpRequest, recommendation: str) -> HttpResponse:
    """Close it without changing anything (manager)."""
    return _end(request, recommendation, adopt=False)


@router.post("/loop/incidents/{incident}/resolve", response=IncidentOut)
def resolve_incident(
    request: HttpRequest, incident: str, body: ResolveIn
) -> HttpResponse:
    """Resolve an incident by hand; if its condition comes back, a new one opens."""
    person = get_person(request)
    rows = Incident.objects.select_related("previous")
    row = get_visible(rows, principal=person, code=incident)
    refuse_auditor(principal=person, project_id=row.project_id)
    resolved = incidents.resolve_incident(incident=row, person=person, note=body.note)
    return build_json_response(serialize_incident(resolved))


def _end(
    request: HttpRequest, code: str, *, adopt: bool, based_on: int | None = None
) -> HttpResponse:
    person = get_person(request)
    row = get_visible(Recommendation.objects.all(), principal=person, code=code)
    ended = end_recommendation(row=row, person=person, adopt=adopt, based_on=based_on)
    return build_json_response(serialize_recommendation(ended))
