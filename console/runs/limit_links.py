"""From a run that a shared limit stopped to the page on which a manager raises it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse

from guidance.core.runs.shared_limits import RUN, SharedUse
from ledger.models import Entry, Run

_WORDS = {
    "agent_day": "Raise this agent’s limit of the day",
    "project_day": "Raise the project’s limit of the day",
    "project_month": "Raise the project’s limit of the month",
}


def find_limit_link(run: Run, steps: Sequence[Entry], *, slug: str) -> tuple[str, str]:
    """Its address and its words; both empty where no such limit stopped the run. `steps` are
    its newest; needs `agent` to be loaded with the run."""
    if run.status != "stopped" or not steps:
        return "", ""
    reached = SharedUse.from_facts(json.loads(steps[-1].payload)).reached
    scope = next((each.scope for each in reached if each.scope != RUN), None)
    if scope is None:
        return "", ""
    named = {"agent": run.agent.name} if scope == "agent_day" else {}
    address = reverse("console:limit-raise", args=[slug])
    return f"{address}?{urlencode({'scope': scope, **named})}", _WORDS[scope]
