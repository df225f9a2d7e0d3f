"""What every long work in the background has: its state, and how far it came."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Project


class JobState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


UNENDED = (JobState.WAITING, JobState.RUNNING)


class BackgroundJob(models.Model):
    """A worker takes it, and tells in it how far it came.

    `worker` is whoever has it now: nobody else may write to it. `seen_at` is the last sign
    of that worker.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    state = models.CharField(
        max_length=16, choices=JobState.choices, default=JobState.WAITING
    )
    reason = models.TextField(default="", help_text="Why it failed, in words")
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    result = models.TextField(default="{}", help_text="What was counted so far, JSON")
    attempts = models.PositiveSmallIntegerField(default=0)
    worker = models.UUIDField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def ended(self) -> bool:
        return self.state not in UNENDED
