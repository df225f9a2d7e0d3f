"""Is what was given on top of limits what the chain of policies says?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from django.db.models import Q

from accounts.models import SYSTEM_POLICIES, Agent
from guidance.core.runs.shared_limits import PARTS
from ledger.models import Entry, SharedUse
from ledger.writer.run_writes import Key


def list_raise_faults(project_id: int, *, last: int) -> Iterator[tuple[str, int]]:
    """`last` is the end of the chain, for what no entry tells of."""
    agents = dict(Agent.objects.filter(project_id=project_id).values_list("code", "pk"))
    ids = {str(code): pk for code, pk in agents.items()}
    said: dict[Key, Counter[str]] = {}
    seqs: dict[Key, int] = {}
    entries = Entry.objects.filter(
        project_id=project_id, run__agent__name=SYSTEM_POLICIES, type="limit.raised"
    ).order_by("run_id", "seq")
    for text, seq in entries.values_list("payload", "seq"):
        payload = json.loads(text)
        owner = ids.get(payload.get("agent", ""), project_id)
        key = ("agent" if "agent" in payload else "project", owner, payload["period"])
        said.setdefault(key, Counter()).update(payload["more"])
        seqs[key] = seq
    stored = _read_stored(project_id, list(agents.values()))
    for key in sorted({*said, *stored}):
        wanted = {part: said.get(key, Counter())[part] for part in PARTS}
        found = stored.get(key, dict.fromkeys(PARTS, 0))
        if wanted != found:
            yield (
                f"{found} was given on top of the limits of {key[0]} {key[1]} for "
                f"{key[2]}, the chain says {wanted}",
                seqs.get(key, last),
            )


def _read_stored(project_id: int, agents: list[int]) -> dict[Key, dict[str, int]]:
    given = Q()
    for part in PARTS:
        given |= ~Q(**{f"{part}_extra": 0})
    rows = SharedUse.objects.filter(given).filter(
        Q(scope="project", owner=project_id) | Q(scope="agent", owner__in=agents)
    )
    return {
        (row.scope, row.owner, row.period): {
            part: getattr(row, f"{part}_extra") for part in PARTS
        }
        for row in rows
    }
