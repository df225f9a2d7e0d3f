"""The operation by which an agent says that it has read a person's note."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_agent
from common.responses import send_reply
from gateway.use_cases.agent_notes import acknowledge_note
from reviews.agent_notes.schemas import ListedNoteOut

router = Router(tags=["Notes"])


@router.post("/runs/{run}/notes/{note}/read", response=ListedNoteOut)
async def read_agent_note(request: HttpRequest, run: str, note: str) -> HttpResponse:
    """Say that you have read it, before your next step says so. Twice is once."""
    return send_reply(
        await acknowledge_note(agent=get_agent(request), run_code=run, note_code=note)
    )
