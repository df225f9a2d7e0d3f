"""The whole ledger of a project checked in the background: who starts it, what it finds.

A check goes through the runs in their order and stores after each batch which run it came
to. A worker that takes it over goes on behind that run.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Sum

from accounts.models import Project
from ledger.jobs.models import UNENDED, JobState
from ledger.jobs.perform import Signs, SignsBeside, give_way, perform_next_job
from ledger.models import ProjectVerification, Run
from ledger.verification.snapshot import retry_busy, try_again
from ledger.verification.whole import Findings, WholeCheck
from ledger.waiting.task_hints import TaskHints

EVERY = timedelta(days=1)
# So many results are kept of a project, so many begin in one go by the clock.
KEPT = 30
STARTS_LIMIT = 100

# What apps above have to do before a project is checked, each with its id.
_preparations: list[Callable[[int], object]] = []
_hints = TaskHints("ledger.tasks.verify_ledgers")
# One thread of a process does it: the others do what cannot wait.
_verifying = threading.Lock()


def register_preparation(prepare: Callable[[int], object]) -> None:
    """For apps at start-up."""
    _preparations.append(prepare)


def read_findings(job: ProjectVerification) -> Findings:
    return Findings(**json.loads(job.result))


def start_verification(
    project: Project, *, by_id: int | None = None
) -> ProjectVerification:
    """Put it before the workers; the one that is under way where there is one."""
    rows = ProjectVerification.objects.filter(project=project)
    try:
        with transaction.atomic():
            job = ProjectVerification.objects.create(project=project, by_id=by_id)
    except IntegrityError:
        # It may have ended just now: then that is the newest.
        job = rows.filter(state__in=UNENDED).first() or rows.latest("pk")
    kept = list(rows.order_by("-pk").values_list("pk", flat=True)[:KEPT])
    rows.exclude(pk__in=kept).exclude(state__in=UNENDED).delete()
    _hints.send(project.pk)
    return job


def start_due_verifications(at: datetime) -> int:
    """Each project once a day."""
    projects = list(_list_due_projects(at)[:STARTS_LIMIT])
    for project in projects:
        start_verification(project)
    return len(projects)


def _list_due_projects(at: datetime) -> QuerySet[Project]:
    newest = ProjectVerification.objects.filter(project=OuterRef("pk")).order_by("-pk")
    return (
        Project.objects.annotate(checked_at=Subquery(newest.values("created_at")[:1]))
        .filter(Q(checked_at=None) | Q(checked_at__lt=at - EVERY))
        .filter(Exists(Run.objects.filter(project=OuterRef("pk"))))
        .order_by("pk")
    )


def perform_verifications() -> int:
    """Do all that wait, and those whose worker is gone, one after the other."""
    if not _verifying.acquire(blocking=False):
        return 0
    try:
        done = 0
        while perform_next_job(ProjectVerification.objects.all(), _verify):
            done += 1
        return done
    finally:
        _verifying.release()


def _verify(job: ProjectVerification, signs: Signs) -> None:
    for prepare in _preparations:
        retry_busy(partial(prepare, job.project_id), tell=signs.tell)
    with SignsBeside(signs) as beside:
        found = try_again(partial(_check, job, beside), tell=beside.tell)
    entries = found.entries
    retry_busy(lambda: signs.finish(entries, asdict(found)), tell=signs.tell)


def _check(job: ProjectVerification, signs: SignsBeside) -> Findings:
    """In one snapshot, from where the job came to."""
    begun = read_findings(job)
    check = WholeCheck(job.project_id, begun, after_run=signs.renew)
    found = check.found
    entries = Run.objects.filter(project_id=job.project_id).aggregate(
        sum=Sum("head_seq")
    )
    signs.set_total(entries["sum"] or 0)
    for _ in give_way(check.check_runs()):
        signs.give(found.entries, lambda: asdict(found))
    signs.renew()
    check.check_rest()
    return found


def get_newest_verification(
    project_id: int, *, finished: bool = False
) -> ProjectVerification | None:
    rows = ProjectVerification.objects.filter(project_id=project_id)
    if finished:
        rows = rows.filter(state=JobState.FINISHED)
    return rows.select_related("by").order_by("-pk").first()
