"""The parts of Checkrail and their states: asked of the part itself, never for long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from config.celery import app as celery_app
from config.health.bounded import OwnConnection, Question
from config.health.draining import get_stop_time
from config.health.notice import find_notice, leave_notice, remove_notice
from config.health.probe import get_probe
from config.models import Heartbeat
from ledger.writer import get_writer

SILENCE_LIMIT = 60  # seconds; beat knocks every 15
BUSY_LIMIT = 20  # seconds; a write takes milliseconds
# Load balancers wait two seconds for an answer, often: both together are less.
NOTICE_SECONDS = 0.4
DATABASE_SECONDS = 1.3

logger = logging.getLogger(__name__)


class State(StrEnum):
    """The state of a part. Nothing that agents need is missing while it is degraded."""

    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part's state, why it is no better, and since when where the part itself says so."""

    state: State = State.OK
    reason: str = ""
    since: datetime | None = None


OK = Part()
Marks = Mapping[str, datetime]


class _DatabaseFault(Exception):
    """Its text says what is wrong with the database."""


def check_process() -> Part:
    stopping = get_stop_time()
    if stopping is None:
        return OK
    reason = "the process is stopping: send it no new requests"
    return Part(state=State.DEGRADED, reason=reason, since=stopping)


async def check_database() -> tuple[Part, Marks | None]:
    """Also the signs of life that stand in it, where it answers."""
    try:
        noticed = await _notices.get_answer(within=NOTICE_SECONDS)
    except TimeoutError:
        noticed = False  # Redis is a hint: what this process has seen itself counts
    if noticed:
        get_probe().wanted = True
    try:
        return OK, await _database.get_answer(within=DATABASE_SECONDS)
    except _DatabaseFault as fault:
        return Part(state=State.DOWN, reason=str(fault)), None
    except TimeoutError as late:
        reason = f"the database does not answer ({late})"
    except (DatabaseError, InterfaceError, OSError) as error:
        logger.warning("The database does not answer: %s", error)
        reason = "the database does not answer"
    return Part(state=State.DOWN, reason=reason), None


def _ask_database() -> Marks:
    return _own.ask(_read_and_judge)


def _read_and_judge() -> Marks:
    marks = dict(Heartbeat.objects.values_list("name", "at"))
    if connection.vendor == "postgresql" and _is_read_only():
        raise _DatabaseFault("the database is read-only")
    _check_writes()
    return marks


def _is_read_only() -> bool:
    """A standby, above all: after a failover the address may lead to one."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone()[0] == "on")


def _check_writes() -> None:
    """The writer's last outcome counts. While it is a failure, a probe may show better.

    The same for another process's failure, if this one has been told of it.
    """
    ledger, probe = get_writer(), get_probe()
    if ledger.busy_seconds > BUSY_LIMIT:
        raise _DatabaseFault(
            f"a write has been under way for {int(ledger.busy_seconds)} seconds"
        )
    if not ledger.failing and not probe.wanted:
        return
    if not probe.succeeds():
        leave_notice()
        raise _DatabaseFault("the database takes no writes")
    probe.wanted = False
    ledger.recover()
    remove_notice()


def _ask_broker() -> Part:
    try:
        with celery_app.connection_for_read(connect_timeout=1) as link:
            link.ensure_connection(max_retries=1, timeout=1)
    except (BrokerError, OSError) as error:
        logger.debug("The broker does not answer: %s", error)
        return Part(state=State.DOWN, reason="Redis does not answer")
    return OK


async def check_broker() -> Part:
    try:
        return await _broker.get_answer(within=DATABASE_SECONDS)
    except TimeoutError as late:
        return Part(state=State.DOWN, reason=f"Redis does not answer ({late})")


def check_beat(marks: Marks | None) -> Part:
    return _check_mark(marks, Heartbeat.BEAT, "the beat has sent nothing")


def check_worker(marks: Marks | None) -> Part:
    """A worker is known by the tasks that it takes: where the beat sends none, nothing can
    be said of it."""
    part = _check_mark(marks, Heartbeat.WORKER, "no worker has taken a task")
    if part.state == State.DOWN and check_beat(marks).state == State.DOWN:
        reason = f"{part.reason}, and the beat has sent none"
        return Part(state=State.DEGRADED, reason=reason, since=part.since)
    return part


def _check_mark(marks: Marks | None, name: str, silence: str) -> Part:
    if marks is None:
        return Part(state=State.DEGRADED, reason="not known without the database")
    last = marks.get(name)
    if last is None:
        return Part(state=State.DOWN, reason=f"{silence} yet")
    silent = int((timezone.now() - last).total_seconds())
    if silent <= SILENCE_LIMIT:
        return OK
    return Part(state=State.DOWN, reason=f"{silence} for {silent} seconds", since=last)


async def check_parts() -> dict[str, Part]:
    """Each part by its name; all are asked at once."""
    if settings.EMBEDDED:
        (database, marks), redis = await check_database(), {}
    else:
        (database, marks), broker = await asyncio.gather(
            check_database(), check_broker()
        )
        redis = {"redis": broker}
    return {
        "process": check_process(),
        "database": database,
        **redis,
        "worker": check_worker(marks),
        "beat": check_beat(marks),
    }


_own = OwnConnection()
_database = Question(_ask_database)
_broker = Question(_ask_broker)
_notices = Question(find_notice)
