"""When an agent was last seen waiting for a review."""

from __future__ import annotations

from django.db import models

from reviews.models.review import Review


class AgentWait(models.Model):
    """A hint for reviewers, kept up every few seconds while somebody waits; no index on
    the time, so that PostgreSQL changes the row in place."""

    review = models.OneToOneField(
        Review, primary_key=True, on_delete=models.CASCADE, related_name="agent_wait"
    )
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"waited for until {self.seen_at}"
