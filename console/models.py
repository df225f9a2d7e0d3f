"""What people keep for themselves in the console."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Project, User
from common.ids import uuid7
from reviews.models import Severity

ADDRESS_LIMIT = 2_000


class SavedPage(models.TextChoices):
    RUNS = "runs"
    QUEUE = "queue"


class SavedView(models.Model):
    """A query of a list under a name: its owner's, or everybody's in the project."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    owner = models.ForeignKey(User, on_delete=models.CASCADE)
    page = models.CharField(
        max_length=16, choices=SavedPage.choices, db_default=SavedPage.RUNS
    )
    name = models.CharField(max_length=60)
    # The list's address behind the question mark.
    address = models.CharField(max_length=ADDRESS_LIMIT)
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "owner", "page", "name"], name="saved_view_once"
            ),
        )

    def __str__(self) -> str:
        return self.name


class Preferences(models.Model):
    """How one person wants the console to behave, in all their projects."""

    user = models.OneToOneField(
        User, on_delete=models.CASCADE, primary_key=True, related_name="preferences"
    )
    # Whether one letter alone may do something; off for people who use speech input.
    single_keys = models.BooleanField(default=True, db_default=True)
    # The usual key of an action: the key instead, empty where it has none.
    changed_keys = models.JSONField(default=dict)
    # Whether a ruling is held for a few seconds, in which it may be taken back.
    takes_back = models.BooleanField(default=True, db_default=True)
    # Whether the next review opens after a ruling.
    opens_next = models.BooleanField(default=False, db_default=False)
    # While the console is open and out of sight: told of this severity and worse by the
    # browser, empty for never; and with a sound.
    desktop_from = models.CharField(
        max_length=8, choices=Severity.choices, blank=True, default="", db_default=""
    )
    sound = models.BooleanField(default=False, db_default=False)
    # Whether the cards of the first visit were read.
    introduced = models.BooleanField(default=False, db_default=False)

    def __str__(self) -> str:
        return f"Preferences of {self.user}"
