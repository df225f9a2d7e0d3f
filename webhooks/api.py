"""The API of webhooks, for managers; auditors read."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import get_person
from common.paging import PageQuery, list_page_after, refuse_unknown_parameters
from common.responses import build_json_response
from webhooks import selectors, services
from webhooks.models import Delivery, WebhookEndpoint
from webhooks.schemas import (
    DeliveryFilters,
    DeliveryOut,
    DeliveryPage,
    WebhookIn,
    WebhookOut,
    WebhookPage,
    WebhookWithSecret,
    serialize_delivery,
    serialize_webhook,
)

router = Router(tags=["Webhooks"])


@router.post("/webhooks", response={201: WebhookWithSecret})
def add_webhook(request: HttpRequest, body: WebhookIn) -> HttpResponse:
    """Send events to a URL from now on; the secret to verify them is shown only here."""
    person = get_person(request)
    endpoint, secret = services.add_endpoint(
        person=person,
        project_id=selectors.get_managed_project(person, body.project).pk,
        url=body.url,
        types=body.types,
        description=body.description,
    )
    return _answer_with_secret(endpoint, secret, status=201)


@router.get("/webhooks", response=WebhookPage)
def list_webhooks(request: HttpRequest, filters: Query[PageQuery]) -> HttpResponse:
    """Newest first; `next_cursor` leads on."""
    refuse_unknown_parameters(request.GET, PageQuery.model_fields)
    endpoints = selectors.list_endpoints(get_person(request))
    rows, next_cursor = list_page_after(
        endpoints, among=endpoints, cursor=filters.cursor, limit=filters.limit
    )
    items = [serialize_webhook(row) for row in rows]
    return build_json_response({"items": items, "next_cursor": next_cursor})


@router.get("/webhooks/{webhook}", response=WebhookOut)
def get_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Where a webhook sends, which events, and its health."""
    return _answer_webhook(_get_endpoint(request, webhook))


@router.delete("/webhooks/{webhook}", response={204: None})
def delete_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Delete a webhook with all its deliveries, also those not sent yet."""
    services.delete_endpoint(_get_endpoint(request, webhook))
    response = HttpResponse(status=204)
    del response["Content-Type"]  # there is no content
    return response


@router.post("/webhooks/{webhook}/test", response={202: DeliveryOut})
def test_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Send an event of type `webhook.test`; the delivery shows the result."""
    endpoint = _get_endpoint(request, webhook)
    delivery = services.send_test_event(endpoint, person=get_person(request))
    return _answer_delivery(delivery, endpoint, status=202)


@router.post("/webhooks/{webhook}/rotate", response=WebhookWithSecret)
def rotate_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """A new secret, shown only here; the previous one also signs for 24 hours."""
    secret = services.rotate_secret(_get_endpoint(request, webhook))
    return _answer_with_secret(_get_endpoint(request, webhook), secret)


@router.post("/webhooks/{webhook}/enable", response=WebhookOut)
def enable_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Send events again, from now on."""
    services.enable_endpoint(_get_endpoint(request, webhook))
    return _answer_webhook(_get_endpoint(request, webhook))


@router.post("/webhooks/{webhook}/disable", response=WebhookOut)
def disable_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Send no more events; those not sent yet are cancelled."""
    endpoint = _get_endpoint(request, webhook)
    services.disable_endpoint(endpoint, person=get_person(request))
    return _answer_webhook(_get_endpoint(request, webhook))


@router.get("/webhooks/{webhook}/deliveries", response=DeliveryPage)
def list_deliveries(
    request: HttpRequest, webhook: str, filters: Query[DeliveryFilters]
) -> HttpResponse:
    """What was sent to a webhook, newest first, with every attempt."""
    refuse_unknown_parameters(request.GET, DeliveryFilters.model_fields)
    endpoint = _get_endpoint(request, webhook)
    rows = visible = selectors.list_deliveries(endpoint)
    if filters.state is not None:
        rows = rows.filter(state=filters.state)
    page, next_cursor = list_page_after(
        rows, among=visible, cursor=filters.cursor, limit=filters.limit
    )
    items = [serialize_delivery(row, webhook=str(endpoint.code)) for row in page]
    return build_json_response({"items": items, "next_cursor": next_cursor})


@router.post("/webhooks/deliveries/{delivery}/resend", response={202: DeliveryOut})
def resend_delivery(request: HttpRequest, delivery: str) -> HttpResponse:
    """Send a delivery again: the same id and bytes, ten more attempts."""
    person = get_person(request)
    services.resend_delivery(selectors.get_delivery(person, delivery))
    again = selectors.get_delivery(person, delivery)
    return _answer_delivery(again, again.endpoint, status=202)


def _get_endpoint(request: HttpRequest, code: str) -> WebhookEndpoint:
    to_read = request.method == "GET"
    return selectors.get_endpoint(get_person(request), code, to_read=to_read)


def _answer_webhook(endpoint: WebhookEndpoint) -> HttpResponse:
    return build_json_response(serialize_webhook(endpoint))


def _answer_with_secret(
    endpoint: WebhookEndpoint, secret: str, *, status: int = 200
) -> HttpResponse:
    return build_json_response(
        serialize_webhook(endpoint, secret=secret), status=status
    )


def _answer_delivery(
    delivery: Delivery, endpoint: WebhookEndpoint, *, status: int
) -> HttpResponse:
    answer = serialize_delivery(delivery, webhook=str(endpoint.code))
    return build_json_response(answer, status=status)
