"""What a look back recommends to change: a draft at most, until a person adopts it."""

from __future__ import annotations

from django.db import models

from accounts.models import Project, User
from common.ids import uuid7
from guidance.models import PolicyVersion
from loop.models.decision import Decision


class RecommendationState(models.TextChoices):
    PENDING = "pending"
    DRAFTED = "drafted"
    ADOPTED = "adopted"
    DISMISSED = "dismissed"


# Not answered yet.
OPEN = (RecommendationState.PENDING, RecommendationState.DRAFTED)


class Recommendation(models.Model):
    """`change` is a part of a policy to set, a loop to start with its parameters, or
    advice. `key` names what was learned, so that nobody is told the same twice."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    title = models.CharField(max_length=200)
    detail = models.TextField(default="")
    change = models.TextField(help_text="Canonical JSON")
    actor = models.CharField(max_length=64)
    key = models.CharField(max_length=200, default="")
    evidence = models.TextField(
        default="null", help_text="JSON: the counted facts that it was learned from"
    )
    state = models.CharField(
        max_length=10,
        choices=RecommendationState.choices,
        default=RecommendationState.PENDING,
    )
    decision = models.ForeignKey(
        Decision,
        to_field="code",
        null=True,
        on_delete=models.PROTECT,
        related_name="recommendations",
    )
    draft = models.TextField(default="null", help_text="JSON: what adopting would do")
    adopted_as = models.ForeignKey(
        PolicyVersion, null=True, on_delete=models.PROTECT, related_name="+"
    )
    ended_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=RecommendationState.values),
                name="recommendation_state_known",
            ),
            models.UniqueConstraint(
                fields=["project", "key"],
                name="recommendation_open_once",
                condition=models.Q(state__in=["pending", "drafted"])
                & ~models.Q(key=""),
            ),
        )
        indexes = (
            models.Index(
                fields=["project", "state", "id"], name="recommendation_queue"
            ),
        )

    def __str__(self) -> str:
        return self.title
