"""Drafts of policies tried over stored history, and the decisions that they change."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Agent, Project, User
from common.ids import uuid7
from ledger.models import Run


class BacktestState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Backtest(models.Model):
    """One trial of a document. A worker takes it, and tells in it how far it came.

    `worker` is whoever has it now: nobody else may write to it. `seen_at` is the last sign
    of that worker.
    """

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    policy = models.CharField(max_length=64)
    version = models.PositiveIntegerField(null=True)
    document = models.TextField(help_text="Canonical JSON: the policy that is tried")
    since = models.DateTimeField()
    until = models.DateTimeField()
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT)
    all_runs = models.BooleanField(default=False)
    limit = models.PositiveIntegerField(null=True)
    state = models.CharField(
        max_length=16, choices=BacktestState.choices, default=BacktestState.WAITING
    )
    reason = models.TextField(default="", help_text="Why it failed, in words")
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    result = models.TextField(default="{}", help_text="What was counted so far, JSON")
    attempts = models.PositiveSmallIntegerField(default=0)
    worker = models.UUIDField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=BacktestState.values),
                name="backtest_state_known",
            ),
        )
        indexes = (
            models.Index(fields=["project", "-id"], name="backtest_by_project"),
            models.Index(
                fields=["id"],
                name="backtest_unended",
                condition=models.Q(state__in=["waiting", "running"]),
            ),
        )

    def __str__(self) -> str:
        return f"{self.policy} {self.state}"


class BacktestItem(models.Model):
    """A decision that comes out otherwise, with both judgements."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    backtest = models.ForeignKey(
        Backtest, on_delete=models.CASCADE, related_name="items"
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    seq = models.PositiveIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=16)
    step = models.PositiveIntegerField()
    subject = models.TextField()
    gate = models.CharField(max_length=100)
    rule = models.CharField(max_length=100, default="")
    move = models.CharField(max_length=64)
    asks = models.CharField(max_length=8, default="", help_text="more, less or nothing")
    people = models.CharField(max_length=8, help_text="agree, disagree or silent")
    ruling = models.CharField(max_length=16, default="")
    review = models.UUIDField(null=True)
    judgements = models.TextField(help_text="Both judgements, JSON")

    class Meta:
        indexes = (
            models.Index(fields=["backtest", "-id"], name="backtest_items"),
            # What people disagree with is shown first.
            models.Index(fields=["backtest", "people", "id"], name="backtest_people"),
        )

    def __str__(self) -> str:
        return f"{self.move} by {self.gate}"
