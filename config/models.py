"""Signs of life of the processes that serve no requests."""

from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    WORKER = "worker"

    name = models.CharField(max_length=32, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"
