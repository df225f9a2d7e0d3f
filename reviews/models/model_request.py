"""What the server asked a model on behalf of a run, and what that cost."""

from __future__ import annotations

from django.db import models

from accounts.models import Project
from ledger.models import Run


class ModelRequest(models.Model):
    """One question to a model. `seq` is its entry in the run's ledger; a run that ended
    before the answer came has none. `cost_micros` is None where no price is known."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="model_requests"
    )
    seq = models.PositiveIntegerField(null=True)
    purpose = models.CharField(max_length=16)
    model = models.CharField(max_length=200)
    tokens_in = models.BigIntegerField()
    tokens_out = models.BigIntegerField()
    cost_micros = models.BigIntegerField(null=True)
    at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["project", "at"], name="model_request_day"),)

    def __str__(self) -> str:
        return f"{self.purpose} {self.model}"
