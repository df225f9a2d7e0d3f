"""What the server asks a model on behalf of a run is written down with its cost.

Every question is an entry of its own, before anything follows from the answer: a verdict
that is then refused was paid for, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone

from accounts.auth import AgentPrincipal
from common.errors import DomainError
from gateway.llm.endpoint import get_endpoint
from gateway.llm.first_look import Opinion
from gateway.llm.judge import Judgement
from gateway.llm.questions import Spent
from ledger.models import FINAL, Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.models import ModelRequest

JUDGES = "judge"
LOOKS_FIRST = "first_look"
_ACTORS = {JUDGES: "system:judge", LOOKS_FIRST: "system:first-look"}
MODEL_CHARACTERS = 200


class RunEnded(DomainError):
    """Internal: the entry that ended the run is the last one of its chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel:
    """A question, what it cost, and what went wrong with its answer."""

    purpose: str
    model: str
    spent: Spent
    trouble: str | None
    check: str = ""
    call: str = ""

    def to_columns(self) -> dict[str, Any]:
        return {
            "purpose": self.purpose,
            "model": self.model[:MODEL_CHARACTERS],
            "tokens_in": self.spent.tokens_in,
            "tokens_out": self.spent.tokens_out,
            "cost_micros": self.spent.cost_micros,
        }


@dataclass(kw_only=True)
class RecordModelRequest(ChangeRequest[None]):
    agent: AgentPrincipal
    asked: AskedModel

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        if run.status in FINAL:
            raise RunEnded("The run has ended.")
        plan = Plan(run, at)
        columns = self.asked.to_columns()
        row = ModelRequest(
            project_id=run.project_id,
            run_id=run.id,
            seq=plan.next_seq,
            at=at,
            **columns,
        )
        payload = {
            **columns,
            "check": self.asked.check,
            "trouble": self.asked.trouble,
            **({"call": self.asked.call} if self.asked.call else {}),
        }
        actor = _ACTORS[self.asked.purpose]
        plan.add_entry("model.asked", actor=actor, payload=payload)
        plan.rows.append(row)
        return plan.change()


async def record_judgement(
    agent: AgentPrincipal, run_code: str, check_code: str, judgement: Judgement
) -> None:
    """Nothing where the judge was not asked after all."""
    if judgement.spent is not None:
        asked = AskedModel(
            purpose=JUDGES,
            check=check_code,
            model=judgement.model or get_model_name(),
            spent=judgement.spent,
            trouble=judgement.trouble,
        )
        await record_model_request(agent, run_code, asked)


async def record_opinion(
    agent: AgentPrincipal, run_code: str, call_code: str, opinion: Opinion
) -> None:
    """The same for a model that looked at a call."""
    if opinion.spent is not None:
        asked = AskedModel(
            purpose=LOOKS_FIRST,
            call=call_code,
            model=opinion.model or get_model_name(),
            spent=opinion.spent,
            trouble=opinion.trouble,
        )
        await record_model_request(agent, run_code, asked)


def get_model_name() -> str:
    endpoint = get_endpoint()
    return endpoint.model if endpoint else ""


async def record_model_request(
    agent: AgentPrincipal, run_code: str, asked: AskedModel
) -> None:
    try:
        await get_writer().perform(
            RecordModelRequest(agent=agent, run_code=run_code, asked=asked)
        )
    except RunEnded:
        await run_in_db_thread(partial(_store_without_entry, run_code, asked))


def _store_without_entry(run_code: str, asked: AskedModel) -> None:
    """A chain that has ended takes no entry, and still the money counts for its day."""
    run = Run.objects.get(code=run_code)
    ModelRequest.objects.create(
        project_id=run.project_id, run=run, at=timezone.now(), **asked.to_columns()
    )
