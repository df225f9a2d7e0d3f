"""Tool calls and the one-time grants to run them."""

from __future__ import annotations

from django.db import models

from accounts.models import Project
from common.ids import uuid7
from ledger.models import Run
from reviews.models.permission import Permission
from reviews.models.review import Review


class ToolCall(models.Model):
    """A call that was judged. All that it holds stands in its ledger entry."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="calls")
    # By its code, which is known before the row is stored.
    review = models.OneToOneField(
        Review,
        to_field="code",
        null=True,
        on_delete=models.PROTECT,
        related_name="call",
    )
    kind = models.CharField(max_length=16)
    tool = models.CharField(max_length=200)
    key = models.CharField(max_length=64, help_text="The same for the same call")
    digest = models.CharField(max_length=80)
    decision = models.CharField(max_length=24)
    seq = models.PositiveIntegerField(help_text="Of its entry in the run's chain")
    judged_at = models.DateTimeField()
    ok = models.BooleanField(null=True)
    output = models.TextField(  # noqa: DJ001 (null: no result, or none to be repeated)
        null=True, help_text="JSON, as the tool answered"
    )
    result_digest = models.CharField(max_length=71, default="")
    settled_at = models.DateTimeField(null=True)
    facts = models.TextField(  # noqa: DJ001 (null: it says nothing, as most)
        null=True, help_text="What it says about its run should it run, JSON"
    )

    class Meta:
        indexes = (
            models.Index(fields=["run", "-id"], name="call_newest_of_run"),
            # A stored result is looked for by its call's key.
            models.Index(
                fields=["run", "key"],
                name="call_to_repeat",
                condition=models.Q(ok=True),
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} {self.decision}"


class GrantState(models.TextChoices):
    ISSUED = "issued"
    SPENT = "spent"
    REVOKED = "revoked"
    EXPIRED = "expired"


class Grant(models.Model):
    """Permission to run one exact call once. Late is told by the clock, and stored as
    soon as somebody is refused for it."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    call = models.OneToOneField(
        ToolCall, to_field="code", on_delete=models.PROTECT, related_name="grant"
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="grants")
    permission = models.ForeignKey(Permission, null=True, on_delete=models.PROTECT)
    digest = models.CharField(max_length=80)
    policy_hash = models.CharField(max_length=71)
    state = models.CharField(
        max_length=16, choices=GrantState.choices, default=GrantState.ISSUED
    )
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state="issued", ended_at__isnull=True)
                | models.Q(
                    state__in=["spent", "revoked", "expired"], ended_at__isnull=False
                ),
                name="grant_end_has_time",
            ),
        )
        indexes = (
            models.Index(
                fields=["run"], name="grant_unspent", condition=models.Q(state="issued")
            ),
        )

    def __str__(self) -> str:
        return f"{self.state} until {self.expires_at}"
