"""Where a project's loop stands: its run, its switch, its clock and its cursors."""

from __future__ import annotations

from django.db import models

from accounts.models import Project, User
from ledger.chain import format_timestamp
from ledger.models import Run


class ProjectLoop(models.Model):
    """One a project. Changed under the project's lock only."""

    project = models.OneToOneField(
        Project, primary_key=True, on_delete=models.PROTECT, related_name="loop"
    )
    # The run that new decisions go to; None until the first one.
    run = models.OneToOneField(Run, null=True, on_delete=models.PROTECT)
    paused_at = models.DateTimeField(null=True)
    paused_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    paused_reason = models.TextField(default="")
    heartbeat_at = models.DateTimeField(null=True)
    # When anybody last looked: the clock, or a person who woke the loop.
    looked_at = models.DateTimeField(null=True)
    # Told once a day that all is well.
    well_told_at = models.DateTimeField(null=True)
    # When what was counted last became recommendations.
    learned_at = models.DateTimeField(null=True)
    heard = models.BigIntegerField(
        default=0, help_text="Ledger position up to which run ends became signals"
    )
    told = models.BigIntegerField(
        default=0, help_text="Ledger position up to which subscribers were told"
    )

    def __str__(self) -> str:
        return f"{self.project_id} {'paused' if self.paused_at else 'on'}"

    def describe_pause(self) -> str | None:
        """Who paused the loop, when and why, as part of a sentence; None if it runs."""
        if self.paused_at is None:
            return None
        by = self.paused_by.username if self.paused_by else "somebody"
        why = f": {self.paused_reason}" if self.paused_reason else ""
        return f"paused by {by} at {format_timestamp(self.paused_at)}{why}"
