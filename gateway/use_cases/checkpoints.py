"""The agent saves its progress, to go on from there after a crash.

A state comes back exactly as it was saved, so nothing in it can be hidden: a state that
holds a secret is refused, and the answer says where.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.auth import AgentPrincipal
from common.errors import Invalid
from common.ids import uuid7
from common.long_work import run_long
from common.responses import Reply, build_reply
from gateway.schemas.runs import CheckpointIn
from gateway.use_cases.access import require_own_run
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.secrets import UNREAD, SecretFinding, find_secrets
from ledger.idempotency import Idempotency
from ledger.models import Checkpoint
from ledger.plan import Plan
from ledger.serializers import serialize_checkpoint
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from reviews.errors import refuse_closed

STATE_LIMIT = 64 * 1024
# What stands for a secret may be longer than the secret was.
LABEL_LIMIT = 200
# Looking through a longer state takes longer than others should have to wait.
_LONG = 4_000


@dataclass(kw_only=True)
class SaveCheckpoint(ChangeRequest[Reply]):
    agent: AgentPrincipal
    body: CheckpointIn

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        refuse_closed(run)
        body = self.body
        if body.step > run.memory.last_step:
            raise _build_field_error(
                "step", f"step {body.step} is later than the last one reported"
            )
        plan = Plan(run, at)
        checkpoint = Checkpoint(
            code=uuid7(),
            run_id=run.id,
            step=body.step,
            label=body.label[:LABEL_LIMIT],
            state=json.dumps(body.state, ensure_ascii=False),
            created_at=at,
        )
        plan.add_entry(
            "checkpoint.saved",
            actor=self.agent.actor,
            payload={
                "checkpoint": str(checkpoint.code),
                "step": body.step,
                "label": body.label,
                "state_digest": hash_text(to_canonical_json(body.state)),
            },
        )
        plan.rows.append(checkpoint)
        return plan.change(
            lambda entries: build_reply(
                {
                    **serialize_checkpoint(checkpoint, run_code=run.code),
                    "receipt": entries[-1].build_receipt(),
                },
                status=201,
            )
        )


async def store_checkpoint(
    *,
    agent: AgentPrincipal,
    run_code: str,
    body: CheckpointIn,
    idempotency: Idempotency | None = None,
) -> Reply:
    size = len(to_canonical_json(body.state).encode())
    if size > STATE_LIMIT:
        raise _build_field_error("state", "at most 64 KiB of JSON")
    if size < _LONG:
        refuse_secrets(body.state)
    else:
        await run_long(refuse_secrets, body.state)
    return await get_writer().perform(
        SaveCheckpoint(
            agent=agent, run_code=run_code, body=body, idempotency=idempotency
        )
    )


def refuse_secrets(state: dict[str, Any]) -> None:
    """Name every place in the state that holds a secret, and nothing of the secret."""
    found = find_secrets(state)
    if not found:
        return
    # Several secrets of one kind in one text are one place to mend.
    errors = {
        (tuple(_get_place(state, finding)), _build_message(finding)): None
        for finding in found
    }
    raise Invalid(
        "The state holds a secret. A state is given back as it was saved, so nothing in "
        "it is hidden: save where the secret is found instead, such as the name of an "
        "environment variable.",
        errors=[{"loc": list(place), "message": why} for place, why in errors],
    )


def _get_place(state: dict[str, Any], finding: SecretFinding) -> Iterator[str | int]:
    """The finding's JSON pointer as the names and numbers that lead there."""
    yield "state"
    value: object = state
    for part in finding.path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            yield int(name)
            value = value[int(name)]
        else:
            yield name
            value = value.get(name) if isinstance(value, dict) else None


def _build_message(finding: SecretFinding) -> str:
    if finding.kind == UNREAD:
        return "too much here looks like secrets to be read to its end"
    if finding.in_key:
        return f"the name of a key is a secret ({finding.kind})"
    return f"a secret ({finding.kind})"


def _build_field_error(field: str, message: str) -> Invalid:
    return Invalid(
        f"{field}: {message}.", errors=[{"loc": [field], "message": message}]
    )
