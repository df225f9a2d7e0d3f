"""Who wants to be told of what, and what they were told of."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Project, User
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
    # What became of the last mail, and when; empty: the mail server has taken it.
    told_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True, default="", db_default="")

    def __str__(self) -> str:
        return str(self.user)


class QueueLevel(models.TextChoices):
    NEAR = "near"
    FULL = "full"


class QueueNotice(models.Model):
    """A manager is told how full the queue of a project is: once for each level, and once
    a day while it stays so. Deleted when there is room again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    level = models.CharField(max_length=8, choices=QueueLevel.choices)
    # As with recipients: whoever moves it on has the turn.
    tried_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "user", "level"], name="queue_notice_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.level} {self.project_id} to {self.user_id}"


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
