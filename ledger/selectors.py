"""Reads: runs and their chains, as far as the caller may see them."""

from __future__ import annotations

import json

from django.db.models import Q, QuerySet

from accounts.auth import AgentPrincipal, Principal
from accounts.models import SYSTEM_AGENTS, SYSTEM_SETTINGS, Role
from common.errors import NotFound
from common.ids import parse_code
from ledger.chain import format_timestamp
from ledger.models import Entry, Run
from ledger.serializers import RUN_RELATED

_ENTRIES = 500
_SEEING_ALL = tuple(role.value for role in Role if role.sees_all)
# Parts of the statements that are written by hand above this app.
FROM_RUN = "FROM ledger_run run"


def join_run(column: str) -> str:
    """The run that a row belongs to, as `run`."""
    return f"JOIN ledger_run run ON run.id = {column}"


def list_visible_runs(*, principal: Principal) -> QuerySet[Run]:
    """An agent sees its own runs, a person those of their projects."""
    runs = Run.objects.select_related(*RUN_RELATED)
    if isinstance(principal, AgentPrincipal):
        return runs.filter(agent_id=principal.agent_id)
    return filter_visible_runs(runs, user_id=principal.user_id)


def filter_visible_runs(runs: QuerySet[Run], *, user_id: int) -> QuerySet[Run]:
    """The runs of a person's projects; who changed what only for those who see all."""
    return runs.filter(
        ~Q(intent=SYSTEM_SETTINGS) | Q(project__membership__role__in=_SEEING_ALL),
        project__membership__user_id=user_id,
    )


def exclude_system_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    """No agent's work: whoever looks for the server's own runs names its agent."""
    return runs.exclude(intent__in=SYSTEM_AGENTS)


def is_system_run(run: Run) -> bool:
    """Whether it is the server's own, and no agent's work."""
    return run.intent in SYSTEM_AGENTS


def is_administration_run(run: Run) -> bool:
    """Whether it is part of the chain that tells who changed what in the project."""
    return run.intent == SYSTEM_SETTINGS


def get_visible_run(*, principal: Principal, code: str) -> Run:
    known = parse_code(code)
    run = (
        list_visible_runs(principal=principal).filter(code=known).first()
        if known
        else None
    )
    if run is None:
        raise NotFound
    return run


def read_ledger_lines(last: int | None, *, run: Run) -> tuple[str, int | None]:
    """Some hundred entries of the run's chain behind `last`, as NDJSON."""
    entries = Entry.objects.filter(run_id=run.pk, seq__gt=last or 0).order_by("seq")
    page = list(entries[:_ENTRIES])
    text = "".join(render_ledger_line(entry, run=str(run.code)) for entry in page)
    return text, page[-1].seq if len(page) == _ENTRIES else None


def render_ledger_line(entry: Entry, *, run: str) -> str:
    """One entry; the payload stands byte for byte as it was hashed."""
    head = {
        "v": entry.version,
        "run": run,
        "seq": entry.seq,
        "at": format_timestamp(entry.at),
        "type": entry.type,
        "actor": entry.actor,
    }
    tail = {
        "payload_sha256": entry.payload_sha256,
        "prev_hash": entry.prev_hash,
        "hash": entry.hash,
    }
    before = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1]
    after = json.dumps(tail, ensure_ascii=False, separators=(",", ":"))[1:]
    return f'{before},"payload":{entry.payload},{after}\n'
