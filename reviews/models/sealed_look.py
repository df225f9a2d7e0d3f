"""What a model said of a call that a person decides without knowing it."""

from __future__ import annotations

import json
import secrets

from django.db import models

from accounts.models import Project
from guidance.core.canonical import to_canonical_json
from guidance.core.look_first import Look
from ledger.models import Run


class SealedLook(models.Model):
    """The ledger, which everybody of a project reads, has only the hash of the text with
    its salt; what the text says is told once there is a ruling."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="sealed_looks")
    call_code = models.UUIDField(unique=True)
    salt = models.CharField(max_length=32)
    said = models.TextField(help_text="JSON: answer, reason, model")

    def __str__(self) -> str:
        return f"call {self.call_code}"

    @classmethod
    def from_look(cls, call_code: str, look: Look) -> SealedLook:
        return cls(
            call_code=call_code,
            salt=secrets.token_hex(16),
            said=to_canonical_json(look.to_json()),
        )

    def read_look(self) -> Look:
        return Look(**json.loads(self.said), blind=True)
