"""What people have allowed runs beforehand, as the rows of the runs have it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from guidance.core.runs.allowances import Allowance, read_allowances
from ledger.chain import format_timestamp
from ledger.halts.held_runs import get_judged_time
from ledger.models import FINAL, Run

_PERSON = "user:"


def list_allowances(run: Run, *, at: datetime) -> tuple[Allowance, ...]:
    """Those that still let a step of this run go on."""
    # Most runs have none: a word that is not there costs less than reading all the rest.
    if '"allowances"' not in run.memory or run.status == "stopped":
        return ()
    if run.status in FINAL:
        return ()
    stored = read_stored_allowances(run)
    if not stored:
        return ()
    judged_at = get_judged_time(run, at)
    return tuple(each for each in stored if each.covers(run.last_step + 1, judged_at))


def read_stored_allowances(run: Run) -> tuple[Allowance, ...]:
    """Also those whose time is over, until a step or a person ends them."""
    return read_allowances(json.loads(run.memory).get("allowances"))


def serialize_allowances(run: Run) -> list[dict[str, Any]]:
    """Asks for people's names only where there are any."""
    found = list_allowances(run, at=timezone.now())
    names = get_person_names(each.by for each in found)
    return [
        serialize_allowance(
            each, by=names.get(each.by), steps_left=each.count_left(run.last_step)
        )
        for each in found
    ]


def serialize_allowance(
    allowance: Allowance, *, by: str | None, steps_left: int
) -> dict[str, Any]:
    return {
        "id": allowance.code,
        "gate": allowance.gate,
        "up_to": allowance.up_to,
        "steps": allowance.steps,
        "steps_left": steps_left,
        "ends_at": format_timestamp(allowance.ends_at),
        "given_at": format_timestamp(allowance.given_at),
        "by": by,
        "review": allowance.review,
    }


def get_person_names(actors: Iterable[str]) -> Mapping[str, str]:
    """By the actor; of the people among them who are known still."""
    people = {each for each in actors if each.startswith(_PERSON)}
    if not people:
        return {}
    codes = [UUID(each.removeprefix(_PERSON)) for each in people]
    found = User.objects.filter(code__in=codes).values_list("code", "username")
    return {f"{_PERSON}{code}": username for code, username in found}
