"""GET /metrics: for Prometheus, which has a token of its own or runs on this machine."""

from __future__ import annotations

import ipaddress
from secrets import compare_digest

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port

from common.errors import Unauthenticated
from config.fastpath.problems import MEDIA_TYPE as PROBLEM
from config.fastpath.problems import render_problem
from config.health.exposition import MEDIA_TYPE, render_families
from config.health.figures import list_families

# Who sends one of these is a proxy: the client may be anywhere.
_FORWARDED = ("X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via")


async def metrics(request: HttpRequest) -> HttpResponse:
    if not _may_read(request):
        error = Unauthenticated(
            "Send the token of CHECKRAIL_METRICS_TOKEN, or ask from this machine."
        )
        return HttpResponse(
            render_problem(error),
            status=error.status,
            content_type=PROBLEM,
            headers=error.headers,
        )
    text = render_families(await list_families())
    return HttpResponse(text, content_type=MEDIA_TYPE)


def _may_read(request: HttpRequest) -> bool:
    kind, _, sent = request.headers.get("Authorization", "").partition(" ")
    if kind:
        token = settings.METRICS_TOKEN
        return (
            token is not None
            and kind.lower() == "bearer"
            and compare_digest(sent.encode(), token.encode())
        )
    return _is_from_this_machine(request)


def _is_from_this_machine(request: HttpRequest) -> bool:
    """Address and name are this machine's, and no proxy stands in between, not even one
    that CHECKRAIL_PROXIES does not name."""
    if any(name in request.headers for name in _FORWARDED):
        return False
    host, _ = split_domain_port(request.get_host())
    named = host == "localhost" or _is_loopback(host.strip("[]"))
    return named and _is_loopback(request.META["REMOTE_ADDR"])


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
