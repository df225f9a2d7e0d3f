"""Signs of life of the processes that serve no requests."""

from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    WORKER = "worker"
    BEAT = "beat"
    PROBE = "probe"

    name = models.CharField(max_length=32, primary_key=True)
    at = models.DateTimeField()
    ballast = models.TextField(default="", help_text="Tells whether there is room")

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"
