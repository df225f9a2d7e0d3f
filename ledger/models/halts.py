"""Halts: what a reviewer has stopped, until a manager releases it."""

from __future__ import annotations

from django.db import models

from accounts.models import Agent, Project, User
from common.ids import uuid7
from ledger.models.runs import Run


class Halt(models.Model):
    """While it is not released, nothing of its scope goes on. The scope is one of `agent`,
    `label` ("name:value") and `run`; none of them is the whole project.

    Every change of these rows raises `ProjectHead.halts_version` in the same commit: the
    writer stores no step, call or claim that was decided by other ones.
    """

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT)
    label = models.CharField(max_length=321, default="")
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT)
    children = models.BooleanField(default=False)
    reason = models.TextField()
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    released_by = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="+"
    )
    released_at = models.DateTimeField(null=True)
    release_reason = models.TextField(default="")
    # When every run of the scope had got the time back for which it was halted.
    deadlines_moved_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(
                fields=["project"],
                name="halt_unsettled",
                condition=models.Q(deadlines_moved_at__isnull=True),
            ),
            models.Index(fields=["project", "-id"], name="halt_newest"),
        )

    def __str__(self) -> str:
        return f"{self.project_id}: {self.reason[:60]}"
