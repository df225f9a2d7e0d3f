"""Figures of an hour or a day, counted from the ledger by a task (`ledger.statistics`).

They can be thrown away and counted anew at any time: the ledger is the record.
"""

from __future__ import annotations

from django.db import models

from accounts.models import Agent, Project


class Interval(models.TextChoices):
    HOUR = "hour"
    DAY = "day"


class StatisticsCursor(models.Model):
    """The last position of a project that is counted, moved in the same transaction."""

    project = models.OneToOneField(
        Project,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="statistics_cursor",
    )
    position = models.BigIntegerField(default=0)
    # When the newest entry that is counted was made; null before the first.
    at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.project_id} counted up to {self.position}"


class PeriodFigures(models.Model):
    """Of which runs, and of which hour or day in UTC.

    Each run counts in the row without a label (`label_name` is empty) and once more for
    each of its labels.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    interval = models.CharField(max_length=4, choices=Interval.choices)
    at = models.DateTimeField(help_text="When the hour or the day begins")
    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    model = models.CharField(max_length=200, default="")
    intent = models.CharField(max_length=16)
    policy = models.CharField(max_length=80, help_text="Such as default@3")
    label_name = models.CharField(max_length=64, default="")
    label_value = models.CharField(max_length=256, default="")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.interval} {self.at}"


# What makes a row the only one, in the order in which rows are looked for.
DIMENSIONS = (
    *("project", "interval", "label_name", "at", "label_value"),
    *("agent", "model", "intent", "policy"),
)


class PeriodTotals(PeriodFigures):
    """Sums. Steps and calls are counted by what was decided; observed steps, of which
    nothing was, are only in `steps`."""

    runs_started = models.BigIntegerField(default=0)
    runs_completed = models.BigIntegerField(default=0)
    runs_failed = models.BigIntegerField(default=0)
    runs_aborted = models.BigIntegerField(default=0)
    runs_abandoned = models.BigIntegerField(default=0)
    runs_stopped = models.BigIntegerField(default=0)
    runs_reopened = models.BigIntegerField(default=0)
    runs_accepted = models.BigIntegerField(default=0)
    runs_not_accepted = models.BigIntegerField(default=0)
    steps = models.BigIntegerField(default=0)
    steps_continue = models.BigIntegerField(default=0)
    steps_checkpoint = models.BigIntegerField(default=0)
    steps_throttle = models.BigIntegerField(default=0)
    steps_pause = models.BigIntegerField(default=0)
    steps_stop = models.BigIntegerField(default=0)
    steps_rework = models.BigIntegerField(default=0)
    calls_allow = models.BigIntegerField(default=0)
    calls_warn = models.BigIntegerField(default=0)
    calls_require_confirmation = models.BigIntegerField(default=0)
    calls_block = models.BigIntegerField(default=0)
    # Of agents alone, not what the server's own runs ask.
    reviews_opened = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    tool_calls = models.BigIntegerField(default=0)
    cost_micros = models.BigIntegerField(default=0)
    # In millionths, so that sums do not depend on their order.
    slope_micros = models.BigIntegerField(default=0)
    slope_count = models.BigIntegerField(default=0)
    # How long runs were running by the server's clock.
    running_ms = models.BigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=DIMENSIONS, name="period_totals_once"),
        )


class PeriodCount(PeriodFigures):
    """How often something of a kind happened, such as a finding of one gate."""

    kind = models.CharField(max_length=24)
    key = models.CharField(max_length=200)
    count = models.BigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=(
                    "project",
                    "interval",
                    "label_name",
                    "kind",
                    *DIMENSIONS[3:],
                    "key",
                ),
                name="period_count_once",
            ),
        )
