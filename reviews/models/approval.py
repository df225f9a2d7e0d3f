"""An approval of a review that takes several people, before the last one."""

from __future__ import annotations

from django.db import models

from accounts.models import User
from reviews.models.review import Review


class ReviewApproval(models.Model):
    """Write-once. One that amends puts another call before the others, who approve that."""

    review = models.ForeignKey(
        Review, on_delete=models.PROTECT, related_name="approvals"
    )
    by = models.ForeignKey(User, on_delete=models.PROTECT)
    at = models.DateTimeField()
    version = models.PositiveIntegerField(help_text="Of the review as it was read")
    action = models.CharField(max_length=16)
    note = models.TextField(default="")
    amended = models.TextField(  # noqa: DJ001 (null: nothing was changed)
        null=True, help_text="Canonical JSON: the call as the person changed it"
    )
    findings = models.TextField(
        default="[]", help_text="Canonical JSON: what the gates say of the changed call"
    )

    allowance = models.TextField(  # noqa: DJ001 (null: it goes on only once)
        null=True, help_text="Canonical JSON: what the person would allow beforehand"
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["review", "version"], name="approval_of_a_version_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.action} by {self.by}"
