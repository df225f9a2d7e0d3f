"""A ruling that its person may still take back."""

from __future__ import annotations

from django.db import models

from accounts.models import User
from reviews.models.review import Review


class HeldRuling(models.Model):
    """What the page of a person is about to send; gone once it was sent, taken back or
    dropped. `said` is the ruling as it was given, `due_at` when the page sends it."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="held")
    by = models.ForeignKey(User, on_delete=models.CASCADE)
    action = models.CharField(max_length=16)
    said = models.TextField(help_text="Canonical JSON: all that the person sent")
    held_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["review", "by"], name="held_once_a_person"),
        )

    def __str__(self) -> str:
        return f"{self.action} by {self.by}"
