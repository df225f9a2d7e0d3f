"""What every agent door does alike: take the caller's key, send the reply."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from accounts.requests import agent_of, seen_of
from accounts.responses import json_response
from ledger.commands import Idempotency
from ledger.idempotency import idempotency_of
from ledger.replies import Reply


def send(reply: Reply) -> HttpResponse:
    return json_response(reply.body, status=reply.status, headers=reply.headers)


def keyed(request: HttpRequest, *, status: int) -> Idempotency | None:
    """The caller's Idempotency-Key, bound to this very request."""
    return idempotency_of(
        key=request.headers.get("Idempotency-Key"),
        agent_id=agent_of(request).agent_id,
        method=request.method or "",
        path=request.path,
        body=seen_of(request).raw,
        status=status,
    )
