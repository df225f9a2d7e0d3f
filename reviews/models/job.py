"""Work on stored history: which time of it is looked at."""

from __future__ import annotations

from django.db import models

from ledger.jobs.models import UNENDED, BackgroundJob, JobState

__all__ = ["UNENDED", "HistoryJob", "JobState"]


class HistoryJob(BackgroundJob):
    since = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        abstract = True
