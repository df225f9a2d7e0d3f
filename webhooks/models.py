"""Webhooks, their deliveries, and every attempt."""

from __future__ import annotations

from django.db import models

from accounts.models import Project, User
from common.ids import uuid7


class EndpointStatus(models.TextChoices):
    ACTIVE = "active"
    DISABLED = "disabled"


class WebhookEndpoint(models.Model):
    """A URL that a project's events are sent to.

    Its secrets are not stored: each is derived from SECRET_KEY and a salt. `cursor` and
    `sequence` move together, by compare-and-set: the ledger up to `cursor` was turned
    into deliveries numbered up to `sequence`.
    """

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    url = models.CharField(max_length=2000)
    description = models.CharField(max_length=200, default="")
    types: models.JSONField[list[str], list[str]] = models.JSONField()
    status = models.CharField(
        max_length=16, choices=EndpointStatus.choices, default=EndpointStatus.ACTIVE
    )
    status_reason = models.CharField(max_length=300, default="")
    status_at = models.DateTimeField()
    salt = models.CharField(max_length=64)
    secret_digest = models.CharField(
        max_length=64, help_text="Tells whether the server's key is still the same"
    )
    previous_salt = models.CharField(max_length=64, default="")
    previous_until = models.DateTimeField(null=True)
    cursor = models.BigIntegerField(help_text="Position in the project's ledger")
    sequence = models.BigIntegerField(default=0, help_text="Last number handed out")
    quiet_until = models.DateTimeField(null=True, help_text="It asked for a rest")
    failing_since = models.DateTimeField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(status__in=EndpointStatus.values),
                name="endpoint_status_known",
            ),
        )
        indexes = (models.Index(fields=["project", "-id"], name="endpoint_of_project"),)

    def __str__(self) -> str:
        return self.url


class DeliveryState(models.TextChoices):
    """Where a delivery stands."""

    QUEUED = "queued"
    LEASED = "leased"
    RETRY_WAIT = "retry_wait"
    DELIVERED = "delivered"
    DEAD = "dead"
    CANCELLED = "cancelled"


PENDING_STATES = ("queued", "leased", "retry_wait")


class Delivery(models.Model):
    """One event for one endpoint, with the exact body that every attempt sends.

    For a leased delivery `due_at` is the end of the lease: then another worker may take it.
    """

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries"
    )
    event = models.UUIDField()
    type = models.CharField(max_length=32)
    body = models.TextField()
    number = models.BigIntegerField(help_text="Its place in the endpoint's sequence")
    state = models.CharField(
        max_length=16, choices=DeliveryState.choices, default=DeliveryState.QUEUED
    )
    attempts = models.PositiveIntegerField(default=0)
    attempts_limit = models.PositiveIntegerField()
    due_at = models.DateTimeField()
    leased_by = models.UUIDField(null=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["endpoint", "event"], name="delivery_once_an_event"
            ),
            models.UniqueConstraint(
                fields=["endpoint", "number"], name="delivery_number_once"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["queued", "leased", "retry_wait"], ended_at__isnull=True
                )
                | models.Q(
                    state__in=["delivered", "dead", "cancelled"],
                    ended_at__isnull=False,
                ),
                name="delivery_end_has_time",
            ),
        )
        indexes = (
            models.Index(
                fields=["endpoint", "due_at"],
                name="delivery_due",
                condition=models.Q(state__in=["queued", "leased", "retry_wait"]),
            ),
            models.Index(
                fields=["leased_by"],
                name="delivery_leased",
                condition=models.Q(state="leased"),
            ),
            models.Index(fields=["endpoint", "-id"], name="delivery_newest"),
            models.Index(fields=["endpoint", "state", "-id"], name="delivery_by_state"),
            models.Index(
                fields=["ended_at"],
                name="delivery_over",
                condition=models.Q(ended_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.type} #{self.number} {self.state}"

    @property
    def webhook_id(self) -> str:
        """The same on every attempt, so that receivers recognise repeats."""
        return f"evt_{self.event.hex}"


class DeliveryAttempt(models.Model):
    """`status` is the receiver's; if there was no answer, `error` says what happened."""

    delivery = models.ForeignKey(
        Delivery, on_delete=models.CASCADE, related_name="tries"
    )
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    ok = models.BooleanField()
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=300, default="")
    duration_ms = models.PositiveIntegerField()
    reply = models.CharField(max_length=500, default="")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["delivery", "number"], name="attempt_number_once"
            ),
        )

    def __str__(self) -> str:
        return f"attempt {self.number}"
