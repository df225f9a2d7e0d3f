"""Start and stop a draft beside its policy."""

from __future__ import annotations

from datetime import timedelta

from accounts.auth import PersonPrincipal
from common.errors import Invalid
from reviews.models import PolicyShadow
from reviews.policies.chain import perform
from reviews.policies.shadow.acts import LONGEST, StartShadow, StopShadow
from reviews.policies.shadow.running import refresh_shadows


def start_shadow(
    *,
    project_id: int,
    name: str,
    number: int,
    lasts: timedelta,
    by: PersonPrincipal,
    note: str = "",
) -> PolicyShadow:
    """Judge by this version, too, whatever runs of the policy do from now on."""
    if not timedelta(0) < lasts <= LONGEST:
        raise Invalid(
            f"A draft runs beside its policy for at most {LONGEST.days} days, and ends "
            "after now.",
            errors=[
                {
                    "loc": ["until"],
                    "message": f"must be within {LONGEST.days} days from now",
                }
            ],
        )
    shadow = perform(
        project_id,
        lambda run: StartShadow(
            run_code=run, name=name, number=number, lasts=lasts, note=note, person=by
        ),
    )
    refresh_shadows()
    return shadow


def stop_shadow(
    shadow: PolicyShadow, *, by: PersonPrincipal, note: str = ""
) -> PolicyShadow:
    """What was seen stays."""
    stopped = perform(
        shadow.project_id,
        lambda run: StopShadow(
            run_code=run, code=str(shadow.code), note=note, person=by
        ),
    )
    refresh_shadows()
    return stopped
