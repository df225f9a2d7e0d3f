"""Why a run ended, or what holds it, in a few words."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ledger.models import FINAL, Run, RunOutcome
from safetext import make_visible_line


class Why(NamedTuple):
    """`quiet` where nothing is wrong."""

    text: str
    quiet: bool = False


def describe_why(run: Run) -> Why:
    """Needs `outcome` to be loaded with the run."""
    failed = list_failed(run)
    if failed:
        first, more = failed[0], len(failed) - 1
        text = f"{first['name']}: {first['message']}"
        if more:
            text = f"{text.rstrip('.')}, and {more} more"
        return Why(make_visible_line(text))
    if run.status_reason and run.status not in ("running", "completed"):
        return Why(make_visible_line(run.status_reason))
    if run.status == "completed":
        return Why("accepted" if _is_accepted(run) else "", quiet=True)
    if run.status in FINAL:
        return Why("no reason told", quiet=True)
    waiting = len(json.loads(run.open_reviews))
    return Why(f"{waiting:,} open" if waiting else "nothing open", quiet=True)


def list_failed(run: Run) -> list[dict[str, Any]]:
    """The evaluators that a finished run did not pass."""
    outcome: RunOutcome | None = getattr(run, "outcome", None)
    if outcome is None or outcome.accepted is not False:
        return []
    return [each for each in json.loads(outcome.evaluations) if each["passed"] is False]


def _is_accepted(run: Run) -> bool:
    outcome: RunOutcome | None = getattr(run, "outcome", None)
    return outcome is not None and outcome.accepted is True
