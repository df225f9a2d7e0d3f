"""Rules that were broken in a run, as gates found them or its agent told."""

from __future__ import annotations

from django.db import models

from accounts.models import Project
from ledger.models import Run
from reviews.models.call import ToolCall


class ViolationSource(models.TextChoices):
    GATE = "gate"
    AGENT = "agent"


class Violation(models.Model):
    """One row for each rule and entry, so that rules are ranked without payloads.

    `destructive` ones are about a call that a person would be asked about by default.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="violations")
    seq = models.PositiveIntegerField(help_text="Of its entry in the run's chain")
    place = models.PositiveSmallIntegerField(help_text="Among those of its entry")
    at = models.DateTimeField()
    rule = models.CharField(max_length=200)
    severity = models.CharField(max_length=16)
    source = models.CharField(max_length=8, choices=ViolationSource.choices)
    gate = models.CharField(max_length=32, default="", help_text="That found it")
    decision = models.CharField(max_length=24, default="")
    auto_corrected = models.BooleanField(default=False)
    destructive = models.BooleanField(default=False)
    text = models.CharField(max_length=200, default="", help_text="What broke it")
    call = models.ForeignKey(
        ToolCall,
        to_field="code",
        null=True,
        on_delete=models.PROTECT,
        related_name="violations",
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["run", "seq", "place"], name="violation_once"
            ),
        )
        indexes = (models.Index(fields=["project", "at"], name="violation_by_time"),)

    def __str__(self) -> str:
        return f"{self.rule} ({self.severity})"
