"""Gate checks, and the warnings that advisory ones leave on a run."""

from __future__ import annotations

from django.db import models

from accounts.models import Project, User
from common.ids import uuid7
from ledger.models import Run
from reviews.models.review import Review


class GateCheck(models.Model):
    """Quality gates put to a step. What was said stands in the ledger, attempt by attempt."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="checks")
    # The newest one: each time the attempts run out, a person is asked anew.
    review = models.OneToOneField(
        Review,
        to_field="code",
        null=True,
        on_delete=models.PROTECT,
        related_name="current_check",
    )
    step = models.PositiveIntegerField()
    gates = models.TextField(help_text="The definitions, JSON")
    state = models.TextField(help_text="Attempts and what came of them, JSON")
    status = models.CharField(max_length=16)
    opened_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = (
            models.Index(fields=["run", "-id"], name="check_newest_of_run"),
            models.Index(fields=["project", "-id"], name="check_newest"),
        )

    def __str__(self) -> str:
        return f"{self.code} {self.status}"


class AdvisoryWarning(models.Model):
    """A gate that did not pass and did not hold the run; until somebody has seen it."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="warnings")
    check_code = models.UUIDField()
    text = models.TextField()
    at = models.DateTimeField()
    acknowledged_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    acknowledged_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(
                fields=["run"],
                name="warning_not_yet_seen",
                condition=models.Q(acknowledged_at__isnull=True),
            ),
        )

    def __str__(self) -> str:
        return self.text[:60]
