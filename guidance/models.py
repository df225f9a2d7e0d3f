"""Policy versions: immutable documents whose hash stands on every decision."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Project, User


class PolicyVersion(models.Model):
    """Append-only: the newest version of a name is the one in force for new runs."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    name = models.CharField(max_length=64)
    version = models.PositiveIntegerField()
    document = models.TextField(help_text="Canonical JSON; the hash is over its bytes")
    hash = models.CharField(max_length=71)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "name", "version"], name="policy_version_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"
