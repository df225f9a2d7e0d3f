"""What waits for a person, what they chose, what they said and what they have read."""

from __future__ import annotations

from django.db import models

from accounts.models import Project, User
from common.ids import uuid7
from ledger.models import Run


class Kind(models.TextChoices):
    PAUSE = "pause"
    REQUEST = "request"
    QUESTION = "question"
    CONFIRMATION = "confirmation"
    EXHAUSTED = "exhausted"
    LOOP_ACTION = "loop_action"
    POLICY_CHANGE = "policy_change"


class ReviewState(models.TextChoices):
    OPEN = "open"
    RULED = "ruled"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


# Asked by the server itself: no agent waits for them, and no run is paused.
SERVER_KINDS = (Kind.LOOP_ACTION, Kind.POLICY_CHANGE)
# What a person may choose, by kind of review (docs/api.md).
RULINGS: dict[str, tuple[str, ...]] = {
    Kind.PAUSE: ("approve", "abort"),
    Kind.REQUEST: ("approve", "deny", "abort"),
    Kind.QUESTION: ("answer", "abort"),
    Kind.CONFIRMATION: ("approve", "amend", "deny", "abort"),
    Kind.EXHAUSTED: ("retry", "skip", "abort"),
    Kind.LOOP_ACTION: ("approve", "deny"),
    Kind.POLICY_CHANGE: ("approve", "deny"),
}


class Review(models.Model):
    """An item in the queue. Changed by the ledger's writer only; all ends are final."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="reviews")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    state = models.CharField(
        max_length=16, choices=ReviewState.choices, default=ReviewState.OPEN
    )
    title = models.CharField(max_length=300)
    content = models.TextField(help_text="Canonical JSON: exactly what was judged")
    content_digest = models.CharField(max_length=71)
    version = models.PositiveIntegerField(default=1)
    step_number = models.PositiveIntegerField(null=True)
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField()
    on_expiry = models.CharField(max_length=16)
    assignee = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    claimed_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(kind__in=Kind.values), name="review_kind_known"
            ),
            models.CheckConstraint(
                condition=models.Q(state="open", closed_at__isnull=True)
                | (
                    models.Q(state__in=["ruled", "expired", "superseded", "withdrawn"])
                    & models.Q(closed_at__isnull=False)
                ),
                name="review_closed_has_time",
            ),
        )
        indexes = (
            # The queue reads open reviews only, among ever more closed ones: it is
            # sorted and counted from this alone, without the rows and their contents.
            models.Index(
                fields=["project", "state", "opened_at", "code", "kind", "assignee"],
                name="review_queue",
                condition=models.Q(state="open"),
            ),
            models.Index(
                fields=["due_at"],
                name="review_due",
                condition=models.Q(state="open"),
            ),
            models.Index(fields=["project", "-id"], name="review_by_project"),
            models.Index(fields=["run", "-id"], name="review_newest_of_run"),
        )

    def __str__(self) -> str:
        return self.title


class Ruling(models.Model):
    """Write-once: one row per review for ever, carried by the unique review."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    review = models.OneToOneField(
        Review, on_delete=models.PROTECT, related_name="ruling"
    )
    action = models.CharField(max_length=16)
    note = models.TextField(default="")
    answer = models.TextField(null=True)  # noqa: DJ001 (null: no answer was asked for)
    amended = models.TextField(  # noqa: DJ001 (null: granted as it was asked for)
        null=True, help_text="Canonical JSON: the call as the person changed it"
    )
    by = models.ForeignKey(User, on_delete=models.PROTECT)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.action} by {self.by}"


class Comment(models.Model):
    review = models.ForeignKey(
        Review, on_delete=models.PROTECT, related_name="comments"
    )
    author = models.ForeignKey(User, on_delete=models.PROTECT)
    text = models.TextField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.text[:60]


class Reading(models.Model):
    """How far a person was served a content that is too long for one screen."""

    review = models.ForeignKey(
        Review, on_delete=models.CASCADE, related_name="readings"
    )
    person = models.ForeignKey(User, on_delete=models.CASCADE)
    pages = models.PositiveIntegerField(help_text="Pages served, from the first on")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["review", "person"], name="reading_once_a_person"
            ),
        )

    def __str__(self) -> str:
        return f"{self.pages} pages"
