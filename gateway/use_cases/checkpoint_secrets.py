"""Secrets in checkpoints that were saved before such states were refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from django.db.models import QuerySet

from common.responses import build_reply
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.secrets import SecretFinding, find_secrets
from guidance.redactor import clean
from ledger.models import Checkpoint, IdempotencyRecord, Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer

OPERATOR = "system:operator"


class Leak(NamedTuple):
    """A checkpoint with secrets in its state, or in the answer kept for its key."""

    checkpoint: Checkpoint
    in_state: Sequence[SecretFinding]
    in_answers: Sequence[SecretFinding]

    @property
    def places(self) -> Iterator[str]:
        for each in self.in_state:
            yield f"{each.path} ({each.kind})"
        for each in self.in_answers:
            yield f"in the answer kept for its key {each.path} ({each.kind})"


def list_leaks(run: Run) -> Iterator[Leak]:
    for checkpoint in run.checkpoints.order_by("pk").iterator(chunk_size=100):
        in_state = find_secrets(json.loads(checkpoint.state))
        in_answers = [
            finding
            for record in list_answers(run.agent_id, checkpoint)
            for finding in find_secrets(json.loads(record.body))
        ]
        if in_state or in_answers:
            yield Leak(checkpoint, in_state, in_answers)


def list_answers(agent_id: int, checkpoint: Checkpoint) -> QuerySet[IdempotencyRecord]:
    """The answers kept for a key that show this checkpoint: they hold its state too."""
    return IdempotencyRecord.objects.filter(
        agent_id=agent_id,
        # Both were stored by one change, at its time, which has an index.
        created_at=checkpoint.created_at,
        body__contains=str(checkpoint.code),
    )


@dataclass(kw_only=True)
class RedactCheckpoint(ChangeRequest[None]):
    """A label in the place of every secret. The run may have ended long ago."""

    checkpoint: Checkpoint

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        state = clean(json.loads(self.checkpoint.state))
        plan = Plan(run, at)
        plan.add_entry(
            "checkpoint.redacted",
            actor=OPERATOR,
            payload={
                "checkpoint": str(self.checkpoint.code),
                "state_digest": hash_text(to_canonical_json(state)),
            },
        )
        rows = Checkpoint.objects.filter(pk=self.checkpoint.pk)
        text = json.dumps(state, ensure_ascii=False)
        plan.side_updates += [
            partial(rows.update, state=text),
            partial(clean_answers, run.agent_id, self.checkpoint),
        ]
        return plan.change()


def clean_answers(agent_id: int, checkpoint: Checkpoint) -> None:
    """The keys stay known, so that a request sent again still saves nothing twice."""
    for record in list_answers(agent_id, checkpoint):
        record.body = build_reply(clean(json.loads(record.body))).body
        record.save(update_fields=["body"])


def redact_checkpoint(run: Run, checkpoint: Checkpoint) -> None:
    get_writer().perform_now(
        RedactCheckpoint(run_code=str(run.code), checkpoint=checkpoint)
    )
