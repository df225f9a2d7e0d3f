"""Change policies: every change is an act of somebody, with a note, in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.auth import PersonPrincipal
from common.errors import Invalid
from guidance.core.canonical import to_canonical_json
from guidance.validation import Fault, check_document
from reviews.policies.acts import ActivateVersion, Outcome, StoreVersion
from reviews.policies.chain import perform
from reviews.policies.moves import move_running_runs
from reviews.policies.shadow.running import refresh_shadows

# What stands in the place of a name in the addresses of the API.
RESERVED = frozenset({"assignments", "schema.json", "validate"})


def create_version(
    *,
    project_id: int,
    name: str,
    document: Mapping[str, Any],
    note: str = "",
    author: PersonPrincipal | None = None,
    activate: bool = False,
    apply_to_running: bool = False,
    based_on: int | None = None,
) -> Outcome:
    """Store the whole document as the next version of its policy.

    Without `activate` it is a draft: nothing is judged by it. Raises Invalid with every
    fault, and Unchanged where the version in force or the newest one says the same.
    """
    if name in RESERVED:
        raise Invalid(f"No policy can be called {name}: choose another name.")
    refuse_faults(check_document(document).faults)
    outcome = perform(
        project_id,
        lambda run: StoreVersion(
            run_code=run,
            name=name,
            text=to_canonical_json(document),
            note=note,
            person=author,
            activate=activate,
            apply_to_running=apply_to_running,
            based_on=based_on,
        ),
    )
    return _move_runs(outcome)


def activate_version(
    *,
    project_id: int,
    name: str,
    number: int,
    note: str = "",
    by: PersonPrincipal | None = None,
    apply_to_running: bool = False,
    based_on: int | None = None,
) -> Outcome:
    """Put a stored version in force for new runs; an old one is restored this way."""
    outcome = perform(
        project_id,
        lambda run: ActivateVersion(
            run_code=run,
            name=name,
            number=number,
            note=note,
            person=by,
            apply_to_running=apply_to_running,
            based_on=based_on,
        ),
    )
    return _move_runs(outcome)


def _move_runs(outcome: Outcome) -> Outcome:
    """At once for most; the sweep finds the rest."""
    if outcome.activation is not None:
        refresh_shadows()  # one of this version has ended
    if outcome.activation is not None and outcome.activation.apply_to_running:
        move_running_runs(policy_id=outcome.activation.policy_id)
    return outcome


def refuse_faults(faults: tuple[Fault, ...]) -> None:
    """A document that cannot be judged by is refused with all that is wrong with it."""
    if faults:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise Invalid(
            f"The policy has {count}. The first: {faults[0].message}",
            errors=[fault.to_json() for fault in faults],
        )
