"""Drafts of policies tried over stored history, and the decisions that they change."""

from __future__ import annotations

from django.db import models

from accounts.models import Agent, User
from common.ids import uuid7
from ledger.models import Run
from reviews.models.job import HistoryJob, JobState


class Backtest(HistoryJob):
    """One trial of a document."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    policy = models.CharField(max_length=64)
    version = models.PositiveIntegerField(null=True)
    document = models.TextField(help_text="Canonical JSON: the policy that is tried")
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT)
    all_runs = models.BooleanField(default=False)
    limit = models.PositiveIntegerField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state__in=JobState.values),
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
    """A decision that comes out otherwise, with both judgements; or one that stored facts
    cannot judge, with the reason in `unknown`."""

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
    unknown = models.CharField(
        max_length=100,
        default="",
        db_default="",
        help_text="Why stored facts cannot judge it, else empty",
    )

    class Meta:
        indexes = (
            models.Index(fields=["backtest", "-id"], name="backtest_items"),
            # What people disagree with is shown first.
            models.Index(fields=["backtest", "people", "id"], name="backtest_people"),
        )

    def __str__(self) -> str:
        return f"{self.move} by {self.gate}"

    @property
    def is_change(self) -> bool:
        """False for an unknown one, and for one that stays the same, which is not stored."""
        before, _, after = self.move.partition("→")
        return before != after


class BacktestUnchanged(models.Model):
    """Decisions of one kind that come out the same, a page of the ledger at a time."""

    backtest = models.ForeignKey(
        Backtest, on_delete=models.CASCADE, related_name="unchanged"
    )
    kind = models.CharField(max_length=16)
    decision = models.CharField(max_length=32)
    count = models.PositiveIntegerField()
    places = models.TextField(help_text="JSON: runs, and the numbers of their entries")

    def __str__(self) -> str:
        return f"{self.count} {self.decision}"
