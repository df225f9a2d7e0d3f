"""What the loop decided: one row for each trigger, whatever came of it."""

from __future__ import annotations

from django.db import models

from accounts.models import Project
from guidance.core.loop.vocabulary import ACTIONS, OUTCOMES
from guidance.models import PolicyVersion
from ledger.models import Run
from loop.models.signal import Signal
from reviews.models import Review


class Decision(models.Model):
    """Changed by the ledger's writer only: when its approval ends, when it is reported on.

    `counted_at` is when it counts against the hourly cap: when it was emitted, or began
    to wait for an approval; None for what did neither.
    """

    code = models.UUIDField(unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    signal = models.OneToOneField(
        Signal, on_delete=models.PROTECT, related_name="decision"
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT)
    seq = models.PositiveIntegerField(help_text="Its entry in that run's chain")
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT)
    trigger_source = models.CharField(max_length=8)
    trigger_type = models.CharField(max_length=32)
    identity = models.CharField(max_length=71)
    decider = models.CharField(max_length=8)
    action = models.CharField(max_length=32)
    kind = models.CharField(max_length=64, default="")
    outcome = models.CharField(max_length=24)
    reasoning = models.TextField()
    snapshot = models.TextField(help_text="JSON, each value with its time")
    state_hash = models.CharField(max_length=71)
    proposal = models.TextField(help_text="JSON: what the decider wanted")
    shadow = models.TextField(default="null", help_text="JSON: a model's, on paper")
    guardrails = models.TextField(default="[]", help_text="JSON: the rails it met")
    event = models.TextField(default="null", help_text="JSON: what was emitted")
    approval_required = models.BooleanField(default=False)
    review = models.OneToOneField(
        Review,
        to_field="code",
        null=True,
        on_delete=models.PROTECT,
        related_name="loop_decision",
    )
    cost_micros = models.BigIntegerField(default=0)
    # The first decision of the chain of events that led to this one.
    root = models.ForeignKey("self", null=True, on_delete=models.PROTECT)
    decided_at = models.DateTimeField()
    counted_at = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)
    reported = models.CharField(max_length=16, default="")
    report = models.TextField(default="null", help_text="JSON: what came of the event")
    reported_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(action__in=ACTIONS), name="decision_action_known"
            ),
            models.CheckConstraint(
                condition=models.Q(outcome__in=OUTCOMES), name="decision_outcome_known"
            ),
            # Nothing that can do harm is emitted without a person's word.
            models.CheckConstraint(
                condition=models.Q(approval_required=False)
                | ~models.Q(outcome="emitted"),
                name="decision_harm_was_approved",
            ),
        )
        indexes = (
            models.Index(fields=["project", "-id"], name="decision_newest"),
            models.Index(fields=["project", "decided_at"], name="decision_of_day"),
            models.Index(
                fields=["project", "action", "counted_at"],
                name="decision_counted",
                condition=models.Q(counted_at__isnull=False),
            ),
            models.Index(fields=["project", "identity"], name="decision_of_trigger"),
            models.Index(
                fields=["project", "decided_at"],
                name="decision_cost",
                condition=models.Q(cost_micros__gt=0),
            ),
        )

    def __str__(self) -> str:
        return f"{self.action} {self.outcome}"
