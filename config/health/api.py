"""Is the process up, and is everything behind it ready?"""

from __future__ import annotations

import logging
from typing import Any, Literal

from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError
from ninja import Router
from pydantic import BaseModel

from common.responses import build_json_response
from config.celery import app as celery_app
from config.health.notice import find_notice, leave_notice, remove_notice
from config.health.probe import get_probe
from config.models import Heartbeat
from ledger.writer import get_writer

router = Router(tags=["Health"])
SILENCE_LIMIT = 60  # seconds; beat knocks every 15
BUSY_LIMIT = 20  # seconds; a write takes milliseconds

logger = logging.getLogger(__name__)


class HealthOut(BaseModel):
    """The process is up."""

    status: Literal["ok"]


class ReadyOut(BaseModel):
    """What is behind the process, each `ok` or what is wrong with it."""

    status: Literal["ok", "unavailable"]
    checks: dict[str, str]


@router.get("/healthz", auth=None, operation_id="get_health", response=HealthOut)
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return build_json_response({"status": "ok"})


@router.get(
    "/readyz",
    auth=None,
    operation_id="get_readiness",
    response={200: ReadyOut, 503: ReadyOut},
)
def readyz(request: HttpRequest) -> HttpResponse:
    """Database, broker and workers; 503 names what is missing."""
    checks: dict[str, Any] = {
        "database": _check_database(),
        "broker": _check_broker(),
        "workers": _check_workers(),
    }
    ready = all(value == "ok" for value in checks.values())
    body = {"status": "ok" if ready else "unavailable", "checks": checks}
    if ready:
        return build_json_response(body)
    return build_json_response(body, status=503, headers={"Retry-After": "5"})


def _check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except (DatabaseError, InterfaceError):
        logger.exception("The database does not answer")
        return "the database does not answer"
    return _check_writes()


def _check_writes() -> str:
    """The writer's last outcome counts. While it is a failure, a probe may show better.

    The same for another process's failure, if this one has been told of it.
    """
    ledger = get_writer()
    if ledger.busy_seconds > BUSY_LIMIT:
        return f"a write has been under way for {int(ledger.busy_seconds)} seconds"
    if not ledger.failing and not find_notice():
        return "ok"
    if not get_probe().succeeds():
        leave_notice()
        return "the database takes no writes"
    ledger.recover()
    remove_notice()
    return "ok"


def _check_broker() -> str:
    try:
        with celery_app.connection_for_read(connect_timeout=1) as link:
            link.ensure_connection(max_retries=1, timeout=1)
    except (BrokerError, OSError) as error:
        logger.warning("The broker does not answer: %s", error)
        return "the broker does not answer"
    return "ok"


def _check_workers() -> str:
    """Work that is late is lost to nobody, but somebody should know."""
    try:
        last = Heartbeat.objects.filter(name=Heartbeat.WORKER).first()
    except (DatabaseError, InterfaceError):
        return "not known without the database"
    if last is None:
        return "no worker has reported yet"
    silent = int((timezone.now() - last.at).total_seconds())
    return "ok" if silent <= SILENCE_LIMIT else f"no worker for {silent} seconds"
