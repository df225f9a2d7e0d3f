"""Standing permissions: what a person need not be asked again."""

from __future__ import annotations

from django.db import models

from accounts.models import Project, User
from common.ids import uuid7
from ledger.models import Run
from reviews.models.review import Review


class Scope(models.TextChoices):
    EXACT = "exact"
    SHAPE = "shape"


class Permission(models.Model):
    """Lets the same calls of a project through for some hours or uses."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT)
    review = models.ForeignKey(Review, on_delete=models.PROTECT)
    scope = models.CharField(max_length=8, choices=Scope.choices)
    tool = models.CharField(max_length=200)
    key = models.CharField(max_length=71, help_text="Digest of `covers`")
    covers = models.TextField(help_text="The call, with # for parts that may change")
    rules = models.TextField(help_text="The rules it answers, JSON")
    granted_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    uses_left = models.PositiveIntegerField()
    used = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True)
    revoked_by = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="+"
    )
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(
                fields=["project", "key"],
                name="permission_to_use",
                condition=models.Q(revoked_at__isnull=True),
            ),
            models.Index(fields=["project", "-id"], name="permission_newest"),
        )

    def __str__(self) -> str:
        return self.covers[:60]
