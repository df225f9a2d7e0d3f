"""Secrets in checkpoints that were saved before such states were refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from guidance.core.canonical import canonical, digest
from guidance.core.secrets import SecretFinding, find_secrets
from guidance.redactor import clean
from ledger.commands import Change, Command, Draft, nothing
from ledger.models import Checkpoint, Run
from ledger.state import RunState
from ledger.writer import writer

OPERATOR = "system:operator"


class Leak(NamedTuple):
    """A checkpoint whose state holds secrets."""

    checkpoint: Checkpoint
    findings: Sequence[SecretFinding]


def list_leaks(run: Run) -> Iterator[Leak]:
    for checkpoint in run.checkpoints.order_by("pk").iterator(chunk_size=100):
        findings = find_secrets(json.loads(checkpoint.state))
        if findings:
            yield Leak(checkpoint, findings)


@dataclass(kw_only=True)
class RedactCheckpoint(Command[None]):
    """A label in the place of every secret. The run may have ended long ago."""

    checkpoint: Checkpoint

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        state = clean(json.loads(self.checkpoint.state))
        draft = Draft(
            type="checkpoint.redacted",
            actor=OPERATOR,
            payload={
                "checkpoint": str(self.checkpoint.code),
                "state_digest": digest(canonical(state)),
            },
        )
        rows = Checkpoint.objects.filter(pk=self.checkpoint.pk)
        text = json.dumps(state, ensure_ascii=False)
        return Change(
            state=run,
            drafts=[draft],
            answer=nothing,
            effects=[partial(rows.update, state=text)],
        )


def redact_checkpoint(run: Run, checkpoint: Checkpoint) -> None:
    writer().perform_now(
        RedactCheckpoint(run_code=str(run.code), checkpoint=checkpoint)
    )
