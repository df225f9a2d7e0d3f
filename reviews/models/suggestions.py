"""What a policy's stored history suggests, counted by a worker."""

from __future__ import annotations

from django.db import models

from reviews.models.job import HistoryJob, JobState


class SuggestionSearch(HistoryJob):
    """One look through the history of a policy; `version` was in force then."""

    policy = models.CharField(max_length=64)
    version = models.PositiveIntegerField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=JobState.values),
                name="suggestion_state_known",
            ),
            # Two people who ask at once get the same search.
            models.UniqueConstraint(
                fields=["project", "policy"],
                name="suggestion_one_unended",
                condition=models.Q(state__in=["waiting", "running"]),
            ),
        )
        indexes = (
            models.Index(
                fields=["project", "policy", "-id"], name="suggestion_by_policy"
            ),
        )

    def __str__(self) -> str:
        return f"{self.policy} {self.state}"
