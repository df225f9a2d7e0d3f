"""The pages of webhooks, for managers: all of them, and one with what it was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import person_of
from accounts.models import Role
from common.errors import DomainError
from console.access import ConsoleRequest, member_door
from console.runs.rows import live_position
from console.webhooks.rows import (
    PAGE,
    SHOWS,
    busy,
    delivery_rows,
    webhook_rows,
    webhooks_of,
)
from guidance.redactor import clean
from webhooks import services
from webhooks.events import TYPES
from webhooks.models import Delivery, WebhookEndpoint
from webhooks.signing import get_secret

P = ParamSpec("P")
# Whose secret the next page shows, once. The secret itself is not kept anywhere.
TOLD = "webhook_secret"
DESCRIPTION_LIMIT = 200


def manager_door(
    view: Callable[Concatenate[ConsoleRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """For everybody else these pages are not there, as they are not in their menu."""

    def check_manager(
        request: ConsoleRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        if not request.role.includes(Role.MANAGER):
            raise Http404
        return view(request, *args, **kwargs)

    return member_door(check_manager)


@require_GET
@manager_door
def webhooks(request: ConsoleRequest) -> HttpResponse:
    return _list(request)


def _list(request: ConsoleRequest, **more: Any) -> HttpResponse:
    at = timezone.now()
    endpoints = list(webhooks_of(project_id=request.project.pk))
    context = {
        **_frame(request),
        "rows": webhook_rows(endpoints, at=at),
        "types": TYPES,
        "typed": {"types": TYPES},
        **more,
    }
    status = 422 if "alert" in more else 200
    return render(request, "console/webhooks/webhooks.html", context, status=status)


@require_POST
@manager_door
def add(request: ConsoleRequest) -> HttpResponse:
    url = request.POST.get("url", "").strip()
    description = request.POST.get("description", "").strip()[:DESCRIPTION_LIMIT]
    types = request.POST.getlist("types")
    try:
        endpoint, _ = services.add_endpoint(
            person=person_of(request.user),
            project_id=request.project.pk,
            url=url,
            # A label may be longer than the secret in whose place it stands.
            description=clean(description)[:DESCRIPTION_LIMIT],
            types=types,
        )
    except DomainError as refusal:
        typed = {"url": url, "description": description, "types": types}
        return _list(request, alert=refusal.detail, typed=typed)
    return _to(request, endpoint, tell=True)


@require_GET
@manager_door
def webhook(request: ConsoleRequest, code: UUID) -> HttpResponse:
    return _one(request, code)


def _one(request: ConsoleRequest, code: UUID, *, alert: str = "") -> HttpResponse:
    endpoint = _here(request, code)
    told = request.session.pop(TOLD, None) == str(code)
    at = timezone.now()
    (row,) = webhook_rows([endpoint], at=at)
    show = request.GET.get("show", "")
    deliveries, older = _page(request, endpoint, show)
    context = {
        **_frame(request),
        "alert": alert,
        "webhook": row,
        "secret": get_secret(endpoint) if told else "",
        "show": show if show in SHOWS else "",
        "shows": [("", "All"), *((name, word) for name, (word, _) in SHOWS.items())],
        "deliveries": delivery_rows(deliveries, active=row.active, at=at),
        "older": older,
        "busy": busy(deliveries, at=at),
    }
    status = 422 if alert else 200
    return render(request, "console/webhooks/webhook.html", context, status=status)


def _page(
    request: ConsoleRequest, endpoint: WebhookEndpoint, show: str
) -> tuple[list[Delivery], str]:
    """The newest, or those before the number asked for; and where the next begin."""
    rows = Delivery.objects.filter(endpoint=endpoint).prefetch_related("tries")
    if show in SHOWS:
        rows = rows.filter(state__in=SHOWS[show][1])
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 16:
        rows = rows.filter(number__lt=int(before))
    found = list(rows.order_by("-number")[: PAGE + 1])
    older = str(found[PAGE - 1].number) if len(found) > PAGE else ""
    return found[:PAGE], older


@require_POST
@manager_door
def act(request: ConsoleRequest, code: UUID, action: str) -> HttpResponse:
    """One button: what it says is done, or said why not."""
    endpoint = _here(request, code)
    person = person_of(request.user)
    tell = False
    try:
        match action:
            case "test":
                services.send_test_event(endpoint, person=person)
            case "rotate":
                services.rotate_secret(endpoint)
                tell = True
            case "enable":
                services.enable_endpoint(endpoint)
            case "disable":
                services.disable_endpoint(endpoint, person=person)
            case "resend":
                services.resend_dead_deliveries(endpoint)
            case "delete":
                services.delete_endpoint(endpoint)
                address = reverse("console:webhooks", args=[request.project.slug])
                return redirect(address)
            case _:
                raise Http404
    except DomainError as refusal:
        return _one(request, code, alert=refusal.detail)
    return _to(request, endpoint, tell=tell)


@require_POST
@manager_door
def resend(request: ConsoleRequest, code: UUID, delivery: UUID) -> HttpResponse:
    endpoint = _here(request, code)
    found = (
        Delivery.objects.select_related("endpoint")
        .filter(endpoint=endpoint, code=delivery)
        .first()
    )
    if found is None:
        raise Http404
    try:
        services.resend_delivery(found)
    except DomainError as refusal:
        return _one(request, code, alert=refusal.detail)
    return _to(request, endpoint)


def _here(request: ConsoleRequest, code: UUID) -> WebhookEndpoint:
    found = webhooks_of(project_id=request.project.pk).filter(code=code).first()
    if found is None:
        raise Http404
    return found


def _to(
    request: ConsoleRequest, endpoint: WebhookEndpoint, *, tell: bool = False
) -> HttpResponse:
    if tell:
        request.session[TOLD] = str(endpoint.code)
    slug = request.project.slug
    return redirect(reverse("console:webhook", args=[slug, endpoint.code]))


def _frame(request: ConsoleRequest) -> dict[str, Any]:
    return {
        "page": "webhooks",
        "since": live_position(project_id=request.project.pk),
        "now": int(timezone.now().timestamp() * 1000),
        "slug": request.project.slug,
    }
