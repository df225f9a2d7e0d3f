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
    PLAN = "plan"


class Severity(models.TextChoices):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Reversibility(models.TextChoices):
    READ_ONLY = "read-only"
    HERE = "reversible here"
    ELSEWHERE = "reversible elsewhere"
    IRREVERSIBLE = "irreversible"


class SnoozedFor(models.TextChoices):
    """What brings back a review that was set aside."""

    TIME = "time"
    RUN = "run"
    COMMENT = "comment"


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
    Kind.PLAN: ("approve", "amend", "deny", "abort"),
}


class Review(models.Model):
    """An item in the queue. Changed by the ledger's writer only, but for the end of a
    claim, which its claimer's page puts off; all ends are final."""

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
    severity = models.CharField(
        max_length=8, choices=Severity.choices, default=Severity.MEDIUM
    )
    reversibility = models.CharField(
        max_length=24,
        choices=Reversibility.choices,
        default=Reversibility.IRREVERSIBLE,
    )
    urgency = models.PositiveSmallIntegerField(
        default=8, help_text="Both as one number, the most urgent first"
    )
    alike_key = models.CharField(
        max_length=16, default="", help_text="Equal where reviews are alike, or empty"
    )
    version = models.PositiveIntegerField(default=1)
    approvals_needed = models.PositiveSmallIntegerField(
        default=1, help_text="How many people have to approve it"
    )
    approvals_given = models.PositiveSmallIntegerField(
        default=0, help_text="How many have, while it is open"
    )
    step_number = models.PositiveIntegerField(null=True)
    opened_at = models.DateTimeField()
    answer_by = models.DateTimeField(help_text="Later it is late, and still open")
    late_at = models.DateTimeField(
        null=True, help_text="When the ledger told that it is late"
    )
    due_at = models.DateTimeField()
    on_expiry = models.CharField(max_length=16)
    assignee = models.ForeignKey(User, null=True, on_delete=models.PROTECT)
    assigned_at = models.DateTimeField(
        null=True, help_text="When another person gave it to its assignee"
    )
    claimed_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(
        null=True, help_text="The claim ends then, unless its claimer is still there"
    )
    snoozed_until = models.DateTimeField(
        null=True, help_text="Set aside until then, or until what `snoozed_for` names"
    )
    snoozed_for = models.CharField(max_length=8, choices=SnoozedFor.choices, default="")
    snoozed_seq = models.BigIntegerField(
        null=True, help_text="Where its run stood when it was set aside"
    )
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(kind__in=Kind.values), name="review_kind_known"
            ),
            models.CheckConstraint(
                condition=models.Q(severity__in=Severity.values),
                name="review_severity_known",
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
                fields=[
                    *("project", "state", "opened_at", "code", "kind", "assignee"),
                    *("alike_key", "urgency", "snoozed_until"),
                ],
                name="review_queue",
                condition=models.Q(state="open"),
            ),
            models.Index(
                fields=[
                    *("project", "state", "urgency", "answer_by", "code", "assignee"),
                    *("alike_key", "snoozed_until"),
                ],
                name="review_by_urgency",
                condition=models.Q(state="open"),
            ),
            models.Index(
                fields=[
                    *("project", "state", "answer_by", "code", "assignee"),
                    *("alike_key", "urgency", "snoozed_until"),
                ],
                name="review_by_answer",
                condition=models.Q(state="open"),
            ),
            models.Index(
                fields=["answer_by"],
                name="review_late",
                condition=models.Q(state="open", late_at__isnull=True),
            ),
            models.Index(
                fields=["due_at"],
                name="review_due",
                condition=models.Q(state="open"),
            ),
            models.Index(
                fields=["claimed_until"],
                name="review_claim_ends",
                condition=models.Q(state="open", claimed_until__isnull=False),
            ),
            models.Index(
                fields=["snoozed_until"],
                name="review_snooze_ends",
                condition=models.Q(state="open", snoozed_until__isnull=False),
            ),
            # When somebody was given a review last.
            models.Index(
                fields=["project", "assignee", "assigned_at"],
                name="review_given",
                condition=models.Q(assigned_at__isnull=False),
            ),
            # How long people took, in any period: read from this alone.
            models.Index(
                fields=["project", "closed_at", "opened_at", "kind"],
                name="review_ruled",
                condition=models.Q(state="ruled"),
            ),
            models.Index(fields=["project", "opened_at", "code"], name="review_by_age"),
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
    """What a person says to the others; `reply_to` is the one that begins its thread."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    review = models.ForeignKey(
        Review, on_delete=models.PROTECT, related_name="comments"
    )
    author = models.ForeignKey(User, on_delete=models.PROTECT)
    text = models.TextField()
    at = models.DateTimeField()
    reply_to = models.ForeignKey(
        "self",
        to_field="code",
        null=True,
        on_delete=models.PROTECT,
        related_name="replies",
    )

    def __str__(self) -> str:
        return self.text[:60]


class Mention(models.Model):
    """A person whom a comment names, and whether they have looked at the review since."""

    # By its code, which is known before the row is stored.
    comment = models.ForeignKey(
        Comment, to_field="code", on_delete=models.CASCADE, related_name="mentions"
    )
    review = models.ForeignKey(
        Review, on_delete=models.CASCADE, related_name="mentions"
    )
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    seen_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(
                fields=["review", "person"],
                name="mention_unseen",
                condition=models.Q(seen_at__isnull=True),
            ),
        )

    def __str__(self) -> str:
        return f"{self.person} in {self.comment}"


class Reading(models.Model):
    """That a person was shown a review: since when, and of a content that is too long for
    one screen how many pages."""

    review = models.ForeignKey(
        Review, on_delete=models.CASCADE, related_name="readings"
    )
    person = models.ForeignKey(User, on_delete=models.CASCADE)
    pages = models.PositiveIntegerField(help_text="Pages served, from the first on")
    # The first time that a screen had it open. None: before that was kept.
    shown_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["review", "person"], name="reading_once_a_person"
            ),
        )

    def __str__(self) -> str:
        return f"{self.pages} pages"
