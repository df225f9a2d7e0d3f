"""Who wants to be told of what, and what they were told of."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import User
from reviews.models import Review, Severity


class Recipient(models.Model):
    """One person. Who never chose is told of what is high or worse."""

    user = models.OneToOneField(
        User, on_delete=models.CASCADE, primary_key=True, related_name="recipient"
    )
    # Told of this severity and worse; empty: never.
    mail_from = models.CharField(
        max_length=8,
        choices=Severity.choices,
        blank=True,
        default=Severity.HIGH,
        db_default=Severity.HIGH,
    )
    # The last time a mail was tried. Whoever moves it on has the turn to send the next one.
    tried_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return str(self.user)


class Occasion(models.TextChoices):
    OPENED = "opened"
    ENDS_SOON = "ends_soon"


class Notice(models.Model):
    """A person was told of a review: once for each occasion. Deleted after it has closed."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="+")
    occasion = models.CharField(max_length=16, choices=Occasion.choices)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["review", "user", "occasion"], name="notice_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.occasion} {self.review_id} to {self.user_id}"
