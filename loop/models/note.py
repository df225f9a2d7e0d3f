"""Notes that wait to be worked through: claimed and confirmed, never read and deleted."""

from __future__ import annotations

from django.db import models

from accounts.models import Project
from common.ids import uuid7
from loop.models.decision import Decision


class NoteState(models.TextChoices):
    QUEUED = "queued"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"


class Note(models.Model):
    """A claim that nobody confirms in time puts it back into the queue."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    text = models.TextField()
    data = models.TextField(default="{}", help_text="Canonical JSON")
    actor = models.CharField(max_length=64)
    state = models.CharField(
        max_length=8, choices=NoteState.choices, default=NoteState.QUEUED
    )
    decision = models.ForeignKey(
        Decision,
        to_field="code",
        null=True,
        on_delete=models.PROTECT,
        related_name="notes",
    )
    claimed_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    reason = models.TextField(default="", help_text="What whoever ended it said")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=NoteState.values), name="note_state_known"
            ),
        )
        indexes = (
            models.Index(fields=["project", "state", "id"], name="note_queue"),
            models.Index(
                fields=["claimed_until"],
                name="note_claimed",
                condition=models.Q(state="claimed"),
            ),
        )

    def __str__(self) -> str:
        return self.text[:60]
