"""Triggers: a row first, so that no lost task can lose one."""

from __future__ import annotations

from django.db import models

from accounts.models import Project
from common.ids import uuid7


class Signal(models.Model):
    """Why the loop has to look. Ends with exactly one decision, whose id it knows."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    decision_code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    type = models.CharField(max_length=32)
    source = models.CharField(max_length=8)
    actor = models.CharField(max_length=64)
    data = models.TextField(default="{}", help_text="Canonical JSON")
    identity = models.CharField(max_length=71)
    dedupe_key = models.CharField(max_length=255, null=True)  # noqa: DJ001
    # Of what the loop heard in the ledger: where it stands there.
    position = models.BigIntegerField(null=True)
    # The decision whose event led to this, and the first one of that chain.
    cause = models.ForeignKey(
        "Decision", null=True, on_delete=models.PROTECT, related_name="effects"
    )
    pending = models.BooleanField(default=True)
    # A model is being asked about it until then: nobody else pays for asking again.
    leased_until = models.DateTimeField(null=True)
    received_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "dedupe_key"],
                name="signal_key_once",
                condition=models.Q(dedupe_key__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["project", "position"],
                name="signal_heard_once",
                condition=models.Q(position__isnull=False),
            ),
        )
        indexes = (
            models.Index(
                fields=["project", "id"],
                name="signal_pending",
                condition=models.Q(pending=True),
            ),
        )

    def __str__(self) -> str:
        return f"{self.type} {self.code}"
