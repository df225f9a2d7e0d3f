"""Figures for monitoring: of this process from its memory, of all the rest from the
database, for as long as that answers."""

from __future__ import annotations

import logging
import os
import resource
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from django.db import DatabaseError, InterfaceError
from django.db.models import Count, F, Min, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import Project
from config.health.bounded import OwnConnection, Question
from config.health.exposition import Family
from config.health.notice import get_process_name
from config.health.parts import State, check_process
from config.health.versions import PROFILE, VERSION
from config.health.watch import watch
from config.models import Heartbeat
from config.server.answers import sent_answers
from ledger.models import ProjectHead, Run
from ledger.waiting.hub import count_all_waiting
from ledger.writer import get_writer
from reviews.models import Review, ReviewState, Severity
from webhooks.models import Delivery, DeliveryState

DATABASE_SECONDS = 4.0  # a scrape is given up after ten
OPEN_STATUSES = ("running", "paused")
_STARTED = timezone.now()

logger = logging.getLogger(__name__)


async def list_families() -> list[Family]:
    known = await watch.look()
    parts = [
        Family(
            "checkrail_part_ok",
            "1 while a part is as it should be (/status says why it is not).",
            [
                ({"part": name}, float(part.state == State.OK))
                for name, (part, _) in known.items()
            ],
        ),
        Family(
            "checkrail_ready",
            "1 while /readyz answers 200.",
            [
                (
                    {},
                    float(
                        check_process().state == State.OK
                        and known["database"][0].state == State.OK
                    ),
                )
            ],
        ),
    ]
    try:
        stored = await _stored.get_answer(within=DATABASE_SECONDS)
    except (DatabaseError, InterfaceError, TimeoutError) as error:
        logger.warning("Figures of the database are left out: %s", error)
        stored = []
    return [*_list_own(), *parts, *stored]


def _list_own() -> Iterator[Family]:
    """List those of this process; others that answer at the same address have their own."""
    process = {"process": get_process_name()}
    ledger = get_writer()
    used = resource.getrusage(resource.RUSAGE_SELF)
    yield Family(
        "checkrail_info",
        "What runs here.",
        [({**process, "version": VERSION, "profile": PROFILE}, 1.0)],
    )
    yield Family(
        "checkrail_http_answers_total",
        "Answers by status.",
        [
            ({**process, "status": str(status)}, float(count))
            for status, count in sorted(Counter(sent_answers).items())
        ],
    )
    for name, help_text, value in (
        ("agents_waiting", "Requests that wait for a person.", count_all_waiting()),
        ("ledger_queue", "Changes that wait for the writer.", ledger.queue_length),
        ("ledger_busy_seconds", "Age of the write under way.", ledger.busy_seconds),
        ("ledger_failing", "1 after a write has failed.", ledger.failing),
        (
            "process_cpu_seconds_total",
            "Processor time used.",
            used.ru_utime + used.ru_stime,
        ),
        ("process_resident_bytes", "Memory used.", _get_resident_bytes()),
        ("process_start_seconds", "When it started.", _STARTED.timestamp()),
    ):
        yield Family(f"checkrail_{name}", help_text, [(process, float(value))])


def _get_resident_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except FileNotFoundError:  # no Linux: the most that it has ever used
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * os.sysconf("SC_PAGE_SIZE")


def _read_stored() -> list[Family]:
    """The same whichever process is asked."""
    now = timezone.now()
    return [
        *_count_reviews(now),
        _count_runs(),
        _count_deliveries(),
        _measure_figures(),
        Family(
            "checkrail_heartbeat_age_seconds",
            "Time since worker and beat were last heard of.",
            [
                ({"part": name}, (now - at).total_seconds())
                for name, at in Heartbeat.objects.values_list("name", "at")
                if name in (Heartbeat.WORKER, Heartbeat.BEAT)
            ],
        ),
    ]


def _count_reviews(now: datetime) -> Iterator[Family]:
    found = {
        severity: (count, oldest)
        for severity, count, oldest in Review.objects.filter(
            # By project: then there is an index.
            project__in=Project.objects.all(),
            state=ReviewState.OPEN,
        )
        .values("severity")
        .values_list("severity", Count("pk"), Min("opened_at"))
    }
    yield Family(
        "checkrail_reviews_open",
        "Reviews that wait for a person.",
        [
            ({"severity": each}, float(found.get(each, (0,))[0]))
            for each in Severity.values
        ],
    )
    yield Family(
        "checkrail_review_oldest_seconds",
        "Age of the oldest of them.",
        [
            ({"severity": each}, (now - oldest).total_seconds())
            for each, (_, oldest) in sorted(found.items())
        ],
    )


def _count_runs() -> Family:
    runs = Run.objects.filter(
        project__in=Project.objects.all(), status__in=OPEN_STATUSES
    )
    found = dict(runs.values("status").values_list("status", Count("pk")))
    return Family(
        "checkrail_runs",
        "Runs that have not ended.",
        [({"status": each}, float(found.get(each, 0))) for each in OPEN_STATUSES],
    )


def _count_deliveries() -> Family:
    found = dict(
        Delivery.objects.filter(~Q(state=DeliveryState.DELIVERED))
        .values("state")
        .values_list("state", Count("pk"))
    )
    states = [each for each in DeliveryState.values if each != DeliveryState.DELIVERED]
    return Family(
        "checkrail_webhook_deliveries",
        "Deliveries of webhooks that wait or have failed, of the last 30 days.",
        [({"state": each}, float(found.get(each, 0))) for each in states],
    )


def _measure_figures() -> Family:
    behind = ProjectHead.objects.annotate(
        behind=F("position") - Coalesce("project__statistics_cursor__position", 0)
    ).order_by("-behind")
    most = behind.values_list("behind", flat=True).first()
    return Family(
        "checkrail_figures_behind_entries",
        "Entries of the ledger that figures do not count yet, in the project with the most.",
        [({}, float(most or 0))],
    )


_own = OwnConnection()
_stored = Question(lambda: _own.ask(_read_stored))
