"""A condition that somebody is told about once: while it lasts, repeats join it."""

from __future__ import annotations

from django.db import models

from accounts.models import Project
from common.ids import uuid7
from loop.models.decision import Decision


class Incident(models.Model):
    """Open until it is resolved; a condition that comes back is a new incident."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    condition = models.CharField(max_length=120)
    severity = models.CharField(max_length=8)
    title = models.CharField(max_length=200)
    detail = models.TextField(default="")
    joins = models.PositiveIntegerField(default=0)
    decision = models.ForeignKey(
        Decision, to_field="code", on_delete=models.PROTECT, related_name="incidents"
    )
    # The incident of the same condition before this one.
    previous = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="successor"
    )
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="When it last fired")
    changed_at = models.DateTimeField(null=True, help_text="The last change told")
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "condition"],
                name="incident_open_once",
                condition=models.Q(resolved_at__isnull=True),
            ),
        )
        indexes = (
            models.Index(
                fields=["project", "condition", "-id"], name="incident_newest"
            ),
        )

    def __str__(self) -> str:
        return f"{self.condition} {'resolved' if self.resolved_at else 'open'}"
