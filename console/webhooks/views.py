"""The pages of webhooks, for managers and auditors: all of them, and one with what it was sent."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_GET, require_POST

from accounts.auth import build_person_principal
from common.errors import DomainError
from console.access import ConsoleRequest
from console.forms import add_refusal
from console.runs.rows import get_live_position
from console.webhooks.forms import WebhookForm
from console.webhooks.rows import (
    PAGE,
    SHOWS,
    WebhookRow,
    build_delivery_rows,
    build_webhook_rows,
    is_busy,
    list_webhooks,
)
from webhooks import services
from webhooks.models import Delivery, WebhookEndpoint
from webhooks.signing import get_secret

# In the session: the webhook whose secret the next page shows, once. The secret itself
# is not kept there.
SHOWN_ONCE = "webhook_secret"


@require_GET
def webhooks(request: ConsoleRequest) -> HttpResponse:
    return _render_list(request)


def _render_list(
    request: ConsoleRequest, *, form: WebhookForm | None = None
) -> HttpResponse:
    """`form` has what was entered, with what is wrong beside each field."""
    at = timezone.now()
    endpoints = list(list_webhooks(project_id=request.project.pk))
    context = {
        **_build_frame(request),
        "rows": build_webhook_rows(endpoints, at=at),
        "form": form or WebhookForm(),
    }
    status = 422 if form else 200
    return render(request, "console/webhooks/webhooks.html", context, status=status)


@require_POST
def add(request: ConsoleRequest) -> HttpResponse:
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _render_list(request, form=form)
    try:
        endpoint, _ = services.add_endpoint(
            person=build_person_principal(request.user),
            project_id=request.project.pk,
            **form.cleaned_data,
        )
    except DomainError as refusal:
        add_refusal(form, refusal)
        return _render_list(request, form=form)
    return _redirect_to(request, endpoint, show_secret=True)


@require_GET
def webhook(request: ConsoleRequest, code: UUID) -> HttpResponse:
    return _render_one(request, code)


def _render_one(
    request: ConsoleRequest, code: UUID, *, alert: str = ""
) -> HttpResponse:
    endpoint = _get_endpoint(request, code)
    first_time = request.session.pop(SHOWN_ONCE, None) == str(code)
    at = timezone.now()
    (row,) = build_webhook_rows([endpoint], at=at)
    show = request.GET.get("show", "")
    deliveries, older = _list_deliveries(request, endpoint, show)
    context = {
        **_build_frame(request),
        "alert": alert,
        "webhook": row,
        "secret": get_secret(endpoint) if first_time else "",
        "show": show if show in SHOWS else "",
        "filters": _build_filters(request, row, show),
        "deliveries": build_delivery_rows(deliveries, active=row.active, at=at),
        "older": older,
        "busy": is_busy(deliveries, at=at),
    }
    status = 422 if alert else 200
    page = render(request, "console/webhooks/webhook.html", context, status=status)
    if first_time:
        # Compressed, its size would tell of the secret beside what the address says.
        patch_cache_control(page, no_transform=True)
    return page


def _build_filters(
    request: ConsoleRequest, row: WebhookRow, show: str
) -> list[dict[str, Any]]:
    address = reverse("console:webhook", args=[request.project.slug, row.code])
    return [
        {
            "name": name,
            "url": f"{address}?show={value}" if value else address,
            "chosen": value == (show if show in SHOWS else ""),
            "count": row.dead if value == "dead" else 0,
        }
        for value, (name, _) in {"": ("All", ()), **SHOWS}.items()
    ]


def _list_deliveries(
    request: ConsoleRequest, endpoint: WebhookEndpoint, show: str
) -> tuple[list[Delivery], str]:
    """The newest, or those before a number; and the number before which more follow."""
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
def act(request: ConsoleRequest, code: UUID, action: str) -> HttpResponse:
    """Do what a button of the page says, or show why that is refused."""
    endpoint = _get_endpoint(request, code)
    person = build_person_principal(request.user)
    show_secret = False
    try:
        match action:
            case "test":
                services.send_test_event(endpoint, person=person)
            case "rotate":
                services.rotate_secret(endpoint)
                show_secret = True
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
        return _render_one(request, code, alert=refusal.detail)
    return _redirect_to(request, endpoint, show_secret=show_secret)


@require_POST
def resend(request: ConsoleRequest, code: UUID, delivery: UUID) -> HttpResponse:
    endpoint = _get_endpoint(request, code)
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
        return _render_one(request, code, alert=refusal.detail)
    return _redirect_to(request, endpoint)


def _get_endpoint(request: ConsoleRequest, code: UUID) -> WebhookEndpoint:
    found = list_webhooks(project_id=request.project.pk).filter(code=code).first()
    if found is None:
        raise Http404
    return found


def _redirect_to(
    request: ConsoleRequest, endpoint: WebhookEndpoint, *, show_secret: bool = False
) -> HttpResponse:
    if show_secret:
        request.session[SHOWN_ONCE] = str(endpoint.code)
    slug = request.project.slug
    return redirect(reverse("console:webhook", args=[slug, endpoint.code]))


def _build_frame(request: ConsoleRequest) -> dict[str, Any]:
    return {
        "page": "webhooks",
        "since": get_live_position(project_id=request.project.pk),
        "now": int(timezone.now().timestamp() * 1000),
        "slug": request.project.slug,
    }
