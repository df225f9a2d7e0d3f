"""What steps were answered, once more, from the entries that say so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from accounts.auth import AgentPrincipal
from common.responses import to_json
from gateway.transitions import report_from_json
from gateway.use_cases.answers.steps import (
    build_decision_answer,
    write_decision_answer,
)
from guidance.core.runs.facts import StepReport
from ledger.models import Entry
from reviews.agent_notes.selectors import Note, list_notes_of_steps
from reviews.errors import StepConflict


class StoredDecision(NamedTuple):
    """`body` is what was answered, byte for byte."""

    decision: str
    body: str


def list_stored_decisions(
    agent: AgentPrincipal, run_code: str, reports: Sequence[StepReport]
) -> list[StoredDecision]:
    entries = {
        entry.step_number: entry
        for entry in Entry.objects.filter(
            run__code=run_code,
            run__agent_id=agent.agent_id,
            step_number__in=[report.number for report in reports],
        )
    }
    notes = list_notes_of_steps(run_code, [report.number for report in reports])
    answers = []
    for report in reports:
        entry = entries[report.number]
        payload = json.loads(entry.payload)
        if report_from_json(payload["report"]) != report:
            raise StepConflict(
                f"Step {report.number} is stored with other figures. "
                "Report the next number instead."
            )
        body = _write_answer(
            entry,
            run=run_code,
            project_slug=agent.project_slug,
            payload=payload,
            notes=notes.get(report.number, ()),
        )
        answers.append(StoredDecision(payload["verdict"]["decision"], body))
    return answers


def write_decision_again(agent: AgentPrincipal, run_code: str, seq: int) -> str:
    """Of a step that neither asked a person nor carried notes."""
    entry = Entry.objects.get(run__code=run_code, seq=seq)
    return _write_answer(
        entry,
        run=run_code,
        project_slug=agent.project_slug,
        payload=json.loads(entry.payload),
        notes=(),
    )


def _write_answer(
    entry: Entry,
    *,
    run: str,
    project_slug: str,
    payload: dict[str, Any],
    notes: Sequence[Note],
) -> str:
    """What was answered when this entry was written; `payload` is its own."""
    receipt = {"seq": entry.seq, "hash": entry.hash}
    if entry.version == 1:  # numbers as Python writes them
        return to_json(
            build_decision_answer(
                run=run,
                project_slug=project_slug,
                payload=payload,
                receipt=receipt,
                notes=notes,
            )
        )
    return write_decision_answer(
        run=run,
        project_slug=project_slug,
        payload=payload,
        receipt=receipt,
        notes=notes,
    )
