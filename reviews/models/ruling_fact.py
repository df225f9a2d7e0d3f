"""What lists and figures of rulings are read from."""

from __future__ import annotations

from django.db import models

from accounts.models import Agent, Project, User

# Rulings that let something go on: these alone can be regretted.
from guidance.core.reviews.four_eyes import APPROVING
from ledger.models import Run
from reviews.models.review import Ruling

__all__ = ["APPROVING", "RulingFact"]


class RulingFact(models.Model):
    """One row for each ruling, stored with it, so that no content is read for a list.

    `rules` has every name it is found by, each between line breaks: all rules that asked
    and the gates they belong to. `text` is searched: title and note, in small letters, each
    up to a limit. `took_ms` is the time from opening to ruling, `read_ms` that
    from the first time its person had it on a screen; None where no screen told. `regretted`
    is set when the call that it allowed fails, and when the run ends badly by what it let
    go on (docs/api.md).
    """

    # By its code, which is known before the row is stored. No constraint: the ruling is
    # evidence, this row is only read from; a difference is told by `ledger_verify`.
    ruling = models.OneToOneField(
        Ruling,
        to_field="code",
        db_constraint=False,
        on_delete=models.PROTECT,
        related_name="fact",
    )
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_index=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="ruling_facts")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_index=False)
    by = models.ForeignKey(User, on_delete=models.PROTECT)
    at = models.DateTimeField()
    action = models.CharField(max_length=16)
    kind = models.CharField(max_length=16)
    severity = models.CharField(max_length=16)
    rule = models.CharField(max_length=200)
    rules = models.TextField()
    alike_key = models.CharField(max_length=16, default="")
    text = models.TextField()
    took_ms = models.BigIntegerField()
    read_ms = models.BigIntegerField(null=True, blank=True)
    regretted = models.BooleanField(default=False)

    class Meta:
        indexes = (
            # Every list is newest first in a project, or sorted by the time taken. What
            # is counted and ranked stands behind, so that no row is read for it.
            models.Index(
                fields=["project", "at", "id", "took_ms"], name="ruling_fact_times"
            ),
            models.Index(fields=["project", "took_ms", "id"], name="ruling_fact_took"),
            models.Index(
                fields=[
                    *("project", "by", "at", "id", "took_ms", "read_ms", "action"),
                    "regretted",
                ],
                name="ruling_fact_read_by",
            ),
            models.Index(
                fields=["project", "agent", "at", "id"], name="ruling_fact_agent"
            ),
            models.Index(
                fields=["project", "at", "rule"], name="ruling_fact_rules_of_time"
            ),
            models.Index(
                fields=["project", "action", "at", "id"], name="ruling_fact_action"
            ),
            models.Index(
                fields=["project", "kind", "at", "id"], name="ruling_fact_kind"
            ),
            models.Index(
                fields=["project", "severity", "at", "id", "took_ms"],
                name="ruling_fact_severities",
            ),
            # How the same was ruled before, without reading a row.
            models.Index(
                fields=["project", "alike_key", "at", "id", "action"],
                name="ruling_fact_alike",
            ),
            # Few are, and those are looked for.
            models.Index(
                fields=["project", "at", "id"],
                name="ruling_fact_regretted",
                condition=models.Q(regretted=True),
            ),
        )

    def __str__(self) -> str:
        return f"{self.action} on {self.rule}"
