"""Drafts that run beside the policy in force, and where they decide otherwise."""

from __future__ import annotations

from django.db import models

from accounts.models import Project, User
from common.ids import uuid7
from guidance.models import Policy, PolicyVersion
from ledger.models import Run


class ShadowEnd(models.TextChoices):
    """Why one ended before its time."""

    STOPPED = "stopped"
    PUBLISHED = "published"


class PolicyShadow(models.Model):
    """A draft beside its policy for a time. It ends at `ends_at` by itself.

    `same_steps` and `same_calls` count what both decide alike; all else is an item.
    """

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, related_name="shadows")
    version = models.ForeignKey(
        PolicyVersion, on_delete=models.PROTECT, related_name="shadows"
    )
    note = models.TextField(default="")
    by = models.ForeignKey(User, on_delete=models.PROTECT)
    started_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    # Set when it ended early, or when the next one found it past its time.
    ended_at = models.DateTimeField(null=True)
    end = models.CharField(max_length=16, choices=ShadowEnd.choices, default="")
    same_steps = models.PositiveBigIntegerField(default=0)
    same_calls = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["policy"],
                condition=models.Q(ended_at=None),
                name="policy_shadow_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.version} until {self.ends_at}"


class PolicyShadowItem(models.Model):
    """A decision that the draft makes otherwise, or could not judge: then `reason` says
    why and `move` is empty. The entry at `seq` of the run has both judgements."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    shadow = models.ForeignKey(
        PolicyShadow, on_delete=models.PROTECT, related_name="items"
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    seq = models.PositiveIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=16)
    gate = models.CharField(max_length=100, default="")
    rule = models.CharField(max_length=100, default="")
    move = models.CharField(max_length=64, default="")
    asks = models.CharField(max_length=8, default="", help_text="more, less or nothing")
    reason = models.TextField(default="")
    tool = models.CharField(max_length=200, default="", help_text="Of a call")

    class Meta:
        indexes = (models.Index(fields=["shadow", "-id"], name="policy_shadow_items"),)

    def __str__(self) -> str:
        return f"{self.move or 'could not be judged'} by {self.gate}"
