"""The whole ledger of a project checked in the background: who starts it, what it finds.

A check goes through the runs in their order and stores after each batch which run it came
to. A worker that takes it over goes on behind that run.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Sum

from accounts.models import Project
from common.append_only import list_faults
from ledger.jobs.models import UNENDED, JobState
from ledger.jobs.perform import Signs, give_way, perform_next_job
from ledger.models import ProjectVerification, Run
from ledger.verification.missing import list_missing_positions, list_missing_runs
from ledger.verification.row_checks import compare_runs, list_batches
from ledger.verification.verify import verify_run
from ledger.waiting.task_hints import TaskHints

EVERY = timedelta(days=1)
# So many results are kept of a project, so many begin in one go by the clock.
KEPT = 30
STARTS_LIMIT = 100
# So many broken runs are named; all are counted.
NAMED_LIMIT = 100
_PAGE = 200

_hints = TaskHints("ledger.tasks.verify_ledgers")
# One thread of a process does it: the others do what cannot wait.
_verifying = threading.Lock()


@dataclass(kw_only=True)
class Findings:
    """What a check has found so far; `last_run` is the id of the run it came to."""

    last_run: int = 0
    runs: int = 0
    entries: int = 0
    broken: int = 0
    named: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unprotected: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not (self.broken or self.missing or self.unprotected)

    def add_broken(self, run: Run, seq: int | None, reason: str | None) -> None:
        self.broken += 1
        if len(self.named) < NAMED_LIMIT:
            self.named.append({"run": str(run.code), "seq": seq, "reason": reason})


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
    found = read_findings(job)
    entries = Run.objects.filter(project_id=job.project_id).aggregate(
        sum=Sum("head_seq")
    )
    signs.set_total(entries["sum"] or 0)
    runs = _list_runs_after(job.project_id, found.last_run)
    for batch in give_way(list_batches(runs)):
        _add_batch(found, batch, signs)
        signs.give(found.entries, lambda: asdict(found))
    signs.renew()
    found.missing = list_missing_positions(job.project_id)
    signs.renew()
    found.missing += list_missing_runs(job.project_id)
    found.unprotected = list(list_faults())
    signs.finish(found.entries, asdict(found))


def _add_batch(found: Findings, batch: Sequence[Run], signs: Signs) -> None:
    whole = []
    for run in batch:
        signs.renew()
        result = verify_run(run)
        found.entries += result.entries
        if result.ok:
            whole.append(run)
        else:
            found.add_broken(run, result.first_bad_seq, result.reason)
    by_id = {run.pk: run for run in whole}
    for each in compare_runs(whole):
        # Of several rows of a run the first is named.
        if each.run_id in by_id:
            found.add_broken(by_id.pop(each.run_id), each.seq, each.reason)
    found.runs += len(batch)
    found.last_run = batch[-1].pk


def _list_runs_after(project_id: int, last: int) -> Iterator[Run]:
    """A page at a time: no reading is open while the job's row is written."""
    # Not joined: a run whose agent or policy was deleted would fall out unseen.
    runs = Run.objects.filter(project_id=project_id).prefetch_related(
        "project", "agent", "policy", "parent"
    )
    while page := list(runs.filter(pk__gt=last).order_by("pk")[:_PAGE]):
        yield from page
        last = page[-1].pk


def get_newest_verification(
    project_id: int, *, finished: bool = False
) -> ProjectVerification | None:
    rows = ProjectVerification.objects.filter(project_id=project_id)
    if finished:
        rows = rows.filter(state=JobState.FINISHED)
    return rows.select_related("by").order_by("-pk").first()
