"""Judge a run again from the page of it: does what was recorded come out the same?"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from console.access import ConsoleRequest
from console.format import format_count
from console.runs.page import find_visible_run
from ledger.models import Run
from ledger.verification.replay import replay_run
from safetext import make_visible_line

# A request has to answer soon; a longer run is replayed by the command.
ENTRIES_LIMIT = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReplay:
    tone: str
    said: str
    more: str = ""
    command: str = ""

    @property
    def icon(self) -> str:
        return "check" if self.tone == "go" else "alert"


@require_POST
def replay(request: ConsoleRequest, code: UUID) -> HttpResponse:
    run = find_visible_run(request, code)
    if run is None:
        raise Http404
    return render(request, "console/runs/_replayed.html", {"replayed": _replay(run)})


def _replay(run: Run) -> ShownReplay:
    entries = format_count(run.head_seq, "entry", "entries")
    if run.head_seq > ENTRIES_LIMIT:
        return ShownReplay(
            tone="pause",
            said=f"{entries} take too long here:",
            command=f"manage.py replay --run {run.code}",
        )
    replayed = replay_run(run)
    if replayed.difference is not None:
        said = make_visible_line(str(replayed.difference), limit=600)
        return ShownReplay(tone="stop", said=f"It comes out differently. In {said}")
    older = format_count(replayed.skipped, "decision")
    return ShownReplay(
        tone="go",
        said=f"All of it comes out the same: {entries}.",
        more=f"{older} by older gates stood as they are." if replayed.skipped else "",
    )
