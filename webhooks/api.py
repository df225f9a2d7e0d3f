"""The doors for webhooks: all of them for managers."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import PERSON, person_asking
from common.paging import PageQuery, only_known, page_after
from common.responses import json_response
from webhooks.models import Delivery, WebhookEndpoint
from webhooks.schemas import (
    DeliveryFilters,
    DeliveryOut,
    DeliveryPage,
    WebhookIn,
    WebhookOut,
    WebhookPage,
    WebhookWithSecret,
    delivery_answer,
    webhook_answer,
)
from webhooks.selectors import (
    deliveries_of,
    delivery_managed,
    endpoint_managed,
    endpoints_managed,
    project_meant,
)
from webhooks.services import (
    delivery_resend,
    endpoint_add,
    endpoint_delete,
    endpoint_disable,
    endpoint_enable,
    endpoint_rotate,
    endpoint_test,
)

router = Router(auth=PERSON, tags=["Webhooks"])


@router.post("/webhooks", response={201: WebhookWithSecret})
def add_webhook(request: HttpRequest, body: WebhookIn) -> HttpResponse:
    """Be told of events from now on; the secret for checking them is shown this once."""
    person = person_asking(request)
    endpoint, secret = endpoint_add(
        person=person,
        project_id=project_meant(person, body.project).pk,
        url=body.url,
        types=body.types,
        description=body.description,
    )
    return _with_secret(endpoint, secret, status=201)


@router.get("/webhooks", response=WebhookPage)
def list_webhooks(request: HttpRequest, filters: Query[PageQuery]) -> HttpResponse:
    """Newest first; `next_cursor` leads on."""
    only_known(request.GET, PageQuery.model_fields)
    endpoints = endpoints_managed(person_asking(request))
    rows, next_cursor = page_after(
        endpoints, among=endpoints, cursor=filters.cursor, limit=filters.limit
    )
    items = [webhook_answer(row) for row in rows]
    return json_response({"items": items, "next_cursor": next_cursor})


@router.get("/webhooks/{webhook}", response=WebhookOut)
def get_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Where it goes, what it is told of, and how it is."""
    return _answer(_found(request, webhook))


@router.delete("/webhooks/{webhook}", response={204: None})
def delete_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Forget it, with everything that is on its way to it."""
    endpoint_delete(_found(request, webhook))
    response = HttpResponse(status=204)
    del response["Content-Type"]  # nothing is sent that could have one
    return response


@router.post("/webhooks/{webhook}/test", response={202: DeliveryOut})
def test_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Send it an event of type `webhook.test`; the delivery tells how it went."""
    endpoint = _found(request, webhook)
    delivery = endpoint_test(endpoint, person=person_asking(request))
    return _delivery(delivery, endpoint, status=202)


@router.post("/webhooks/{webhook}/rotate", response=WebhookWithSecret)
def rotate_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """A new secret, shown this once; the one before signs beside it for 24 hours."""
    secret = endpoint_rotate(_found(request, webhook))
    return _with_secret(_found(request, webhook), secret)


@router.post("/webhooks/{webhook}/enable", response=WebhookOut)
def enable_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Tell it again of what happens from now on."""
    endpoint_enable(_found(request, webhook))
    return _answer(_found(request, webhook))


@router.post("/webhooks/{webhook}/disable", response=WebhookOut)
def disable_webhook(request: HttpRequest, webhook: str) -> HttpResponse:
    """Tell it nothing more; what waits for it is cancelled."""
    endpoint = _found(request, webhook)
    endpoint_disable(endpoint, person=person_asking(request))
    return _answer(_found(request, webhook))


@router.get("/webhooks/{webhook}/deliveries", response=DeliveryPage)
def list_deliveries(
    request: HttpRequest, webhook: str, filters: Query[DeliveryFilters]
) -> HttpResponse:
    """What it was told, newest first, with every attempt."""
    only_known(request.GET, DeliveryFilters.model_fields)
    endpoint = _found(request, webhook)
    rows = visible = deliveries_of(endpoint)
    if filters.state is not None:
        rows = rows.filter(state=filters.state)
    page, next_cursor = page_after(
        rows, among=visible, cursor=filters.cursor, limit=filters.limit
    )
    items = [delivery_answer(row, webhook=str(endpoint.code)) for row in page]
    return json_response({"items": items, "next_cursor": next_cursor})


@router.post("/webhooks/deliveries/{delivery}/resend", response={202: DeliveryOut})
def resend_delivery(request: HttpRequest, delivery: str) -> HttpResponse:
    """Send it once more: the same id and the same bytes, ten attempts."""
    person = person_asking(request)
    delivery_resend(delivery_managed(person, delivery))
    again = delivery_managed(person, delivery)
    return _delivery(again, again.endpoint, status=202)


def _found(request: HttpRequest, code: str) -> WebhookEndpoint:
    return endpoint_managed(person_asking(request), code)


def _answer(endpoint: WebhookEndpoint) -> HttpResponse:
    return json_response(webhook_answer(endpoint))


def _with_secret(
    endpoint: WebhookEndpoint, secret: str, *, status: int = 200
) -> HttpResponse:
    return json_response(webhook_answer(endpoint, secret=secret), status=status)


def _delivery(
    delivery: Delivery, endpoint: WebhookEndpoint, *, status: int
) -> HttpResponse:
    answer = delivery_answer(delivery, webhook=str(endpoint.code))
    return json_response(answer, status=status)
