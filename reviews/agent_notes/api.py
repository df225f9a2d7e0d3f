"""Operations: people write notes to a running agent, both sides see what became of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_person, get_principal
from common.responses import build_json_response
from ledger.selectors import get_visible_run
from reviews.agent_notes.schemas import AgentNoteIn, AgentNoteList, ListedNoteOut
from reviews.agent_notes.selectors import list_notes, serialize_listed_note
from reviews.agent_notes.writing import submit_agent_note

router = Router(tags=["Notes"])


@router.post("/runs/{run}/notes", response={201: ListedNoteOut})
def write_agent_note(request: HttpRequest, run: str, body: AgentNoteIn) -> HttpResponse:
    """Tell a running agent something without stopping it (reviewer): its next step, call
    or decision is answered with it, once."""
    note = submit_agent_note(run_code=run, person=get_person(request), body=body)
    return build_json_response(serialize_listed_note(note), status=201)


@router.get("/runs/{run}/notes", response=AgentNoteList)
def list_agent_notes(request: HttpRequest, run: str) -> HttpResponse:
    """The notes to the agent of a run and what became of them. To look delivers nothing."""
    found = get_visible_run(principal=get_principal(request), code=run)
    items = [serialize_listed_note(note) for note in list_notes(found)]
    return build_json_response({"items": items})
