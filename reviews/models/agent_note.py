"""What people wrote to the agent of a run while it works."""

from __future__ import annotations

from django.db import models

from accounts.models import User
from common.ids import uuid7
from ledger.models import Run


class DeliveredWith(models.TextChoices):
    """What the agent asked when it was given the note."""

    STEP = "step"
    CALL = "call"
    DECISION = "decision"
    TURN = "turn"
    ACKNOWLEDGEMENT = "acknowledgement"


class NoteState(models.TextChoices):
    WAITING = "waiting"
    DELIVERED = "delivered"
    READ = "read"


class AgentNote(models.Model):
    """One note; its entries in the run's chain tell the same.

    `delivered_step` is the step that it came with, or the last one before it came;
    `delivered_for` the call or the review whose answer carried it.
    """

    code = models.UUIDField(default=uuid7, unique=True)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="agent_notes")
    text = models.TextField()
    tags = models.TextField(default="[]", help_text="Canonical JSON")
    by = models.ForeignKey(User, on_delete=models.PROTECT)
    at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True)
    delivered_with = models.CharField(
        max_length=16, choices=DeliveredWith.choices, default=""
    )
    delivered_step = models.BigIntegerField(null=True)
    delivered_for = models.UUIDField(null=True)
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(read_at=None) | models.Q(delivered_at__isnull=False),
                name="note_read_after_delivery",
            ),
        )

    def __str__(self) -> str:
        return self.text[:80]

    @property
    def state(self) -> NoteState:
        if self.read_at is not None:
            return NoteState.READ
        return (
            NoteState.DELIVERED if self.delivered_at is not None else NoteState.WAITING
        )
