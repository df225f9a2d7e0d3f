"""How a ledger is proven: checks of a whole project, and the copies that were taken."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Project, User
from common.ids import uuid7
from ledger.jobs.models import BackgroundJob, JobState
from ledger.models.runs import Run


class ProjectVerification(BackgroundJob):
    """All chains of a project checked, with the rows beside them.

    `by` is who asked for it, None where the clock did. It goes on where a worker that was
    killed came to: `ledger.verification.project` says what is in `result`.
    """

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    by = models.ForeignKey(User, null=True, on_delete=models.PROTECT)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=JobState.values),
                name="verification_state_known",
            ),
            models.UniqueConstraint(
                fields=["project"],
                name="verification_one_at_a_time",
                condition=models.Q(state__in=["waiting", "running"]),
            ),
        )
        indexes = (
            models.Index(fields=["project", "-id"], name="verification_by_project"),
        )

    def __str__(self) -> str:
        return f"{self.project_id} {self.state}"


class LedgerExport(models.Model):
    """Who took a copy of a run's chain, when, and where it ended then."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="exports")
    actor = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=Now())
    head_seq = models.PositiveIntegerField()
    head_hash = models.CharField(max_length=64)

    class Meta:
        indexes = (models.Index(fields=["project", "-id"], name="export_by_project"),)

    def __str__(self) -> str:
        return f"{self.run_id} up to {self.head_seq}"
