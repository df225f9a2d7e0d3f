"""Policies: their immutable versions, which of them is in force, and for whose runs."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Project, User


class PolicyVersion(models.Model):
    """Append-only: what a policy said, and its hash, which stands on every decision."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    name = models.CharField(max_length=64)
    version = models.PositiveIntegerField()
    document = models.TextField(help_text="Canonical JSON; the hash is over its bytes")
    hash = models.CharField(max_length=71)
    note = models.TextField(default="", db_default="")
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


class Policy(models.Model):
    """A policy by its name. Changed only together with the activation that says why."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    name = models.CharField(max_length=64)
    # The version in force for new runs; none while there are only drafts.
    active = models.ForeignKey(
        PolicyVersion, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["project", "name"], name="policy_once"),
        )

    def __str__(self) -> str:
        return self.name


class PolicyActivation(models.Model):
    """Append-only: a version came into force. Restoring an old one is this, too."""

    policy = models.ForeignKey(
        Policy, on_delete=models.PROTECT, related_name="activations"
    )
    before = models.ForeignKey(
        PolicyVersion, null=True, on_delete=models.PROTECT, related_name="+"
    )
    version = models.ForeignKey(
        PolicyVersion, on_delete=models.PROTECT, related_name="activations"
    )
    note = models.TextField(default="")
    # Whether runs that were under way went on under this version.
    apply_to_running = models.BooleanField(default=False)
    by = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.version} at {self.at}"


class PolicyAssignment(models.Model):
    """Which runs a policy is for. The first that fits a run wins; "" fits every run."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    policy = models.ForeignKey(
        Policy, on_delete=models.PROTECT, related_name="assignments"
    )
    position = models.PositiveIntegerField()
    agent = models.CharField(max_length=120, default="")
    label = models.TextField(default="", help_text="name:value")
    intent = models.CharField(max_length=16, default="")
    model = models.CharField(max_length=200, default="")

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(
                fields=["project", "position"], name="policy_assignment_position_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.position}: {self.policy}"
