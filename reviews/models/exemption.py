"""Exemptions: values that look like secrets, and that a manager has said are none."""

from __future__ import annotations

from django.db import models

from accounts.models import Project, User
from common.ids import uuid7
from ledger.models import Run
from reviews.models.call import ToolCall


class Exemption(models.Model):
    """One value in one project, known by its keyed fingerprint; until it is revoked."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT)
    call = models.ForeignKey(
        ToolCall, to_field="code", on_delete=models.PROTECT, related_name="+"
    )
    fingerprint = models.CharField(max_length=8)
    label = models.CharField(max_length=80, help_text="What is shown in its place")
    reason = models.TextField()
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    revoked_by = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="+"
    )
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "fingerprint"],
                name="exemption_stands_once",
                condition=models.Q(revoked_at__isnull=True),
            ),
        )
        indexes = (models.Index(fields=["project", "-id"], name="exemption_newest"),)

    def __str__(self) -> str:
        return self.label
