"""What is in force. A project's default policy is made where it is missing; all other
changes of policies are people's acts, in the ledger (`reviews.policies`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from django.db import IntegrityError, transaction
from django.utils import timezone

from common.errors import Invalid
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.policy.assignments import RunFacts, find_assignment
from guidance.core.policy.caps import Caps
from guidance.models import Policy, PolicyActivation, PolicyVersion
from guidance.selectors import (
    LoadedPolicy,
    PolicyChoice,
    find_active_id,
    get_policy,
    load_policy_choice,
)

DEFAULT = "default"
SHIPPED_NOTE = "It comes with Checkrail."
_SHIPPED = Path(__file__).parent / "policies"


def get_policy_in_force(*, project_id: int, name: str) -> LoadedPolicy:
    """The active version of this name; a project's default is made where it is missing.

    Never call it inside a larger transaction: the loaded policy is kept for ever, and
    a rollback would take back the row it was loaded from.
    """
    found = find_active_id(project_id=project_id, name=name)
    if found is None and name == DEFAULT:
        # Somebody may do the same at this moment: theirs is as good.
        found = _create_default(project_id) or find_active_id(
            project_id=project_id, name=DEFAULT
        )
    if found is None:
        raise Invalid(
            f"The project has no policy named {name!r}.",
            errors=[{"loc": ["policy"], "message": "no such policy"}],
        )
    return get_policy(found)


def get_policy_choice(*, project_id: int) -> PolicyChoice:
    """From which policies a run gets its own, with the shipped one among them."""
    choice = load_policy_choice(project_id=project_id)
    if DEFAULT not in choice.active:
        get_policy_in_force(project_id=project_id, name=DEFAULT)
        choice = load_policy_choice(project_id=project_id)
    return choice


def choose_policy(*, project_id: int, wish: str, run: RunFacts) -> LoadedPolicy:
    """The policy of a run that begins: by the first assignment that fits, else the one
    that the project has for all others.

    An agent's own wish counts only where the project lets agents choose. `default` is no
    wish, and what the run gets anyway may be named.
    """
    choice = get_policy_choice(project_id=project_id)
    assigned = find_assignment(choice.assignments, run)
    name = assigned.policy if assigned else choice.default
    if wish not in (DEFAULT, name):
        _refuse_choice(wish, choice, own=name)
        name = wish
    return get_policy(choice.active[name])


def _refuse_choice(wish: str, choice: PolicyChoice, *, own: str) -> None:
    if choice.agents_choose and wish in choice.active:
        return
    allowed = sorted(choice.active) if choice.agents_choose else sorted({DEFAULT, own})
    named = ", ".join(allowed)
    raise Invalid(
        f"The project has no policy named {wish!r}. A run may name: {named}."
        if choice.agents_choose
        else f"Agents do not choose their policy here. This run may name: {named}.",
        errors=[{"loc": ["policy"], "message": f"one of: {named}"}],
    )


def get_caps_in_force(*, project_id: int) -> Caps:
    """What runs of a project share is capped by its default policy, whichever policy
    each of them is judged by. A change counts at once."""
    found = find_active_id(project_id=project_id, name=DEFAULT)
    return Caps() if found is None else get_policy(found).policy.caps


@cache
def _load_shipped_policy() -> Mapping[str, Any]:
    """Reading YAML takes longer than anything else about a project's first run."""
    document: Mapping[str, Any] = yaml.safe_load(
        (_SHIPPED / "default.yaml").read_text()
    )
    return document


def _create_default(project_id: int) -> int | None:
    """The id of the new version; None when the project has its default already."""
    text = to_canonical_json(_load_shipped_policy())
    at = timezone.now()
    try:
        with transaction.atomic():
            version = PolicyVersion.objects.create(
                project_id=project_id,
                name=DEFAULT,
                version=1,
                document=text,
                hash=hash_text(text),
                note=SHIPPED_NOTE,
                created_at=at,
            )
            policy = Policy.objects.create(
                project_id=project_id, name=DEFAULT, active=version
            )
            PolicyActivation.objects.create(
                policy=policy, version=version, note=SHIPPED_NOTE, at=at
            )
    except IntegrityError:
        return None
    return version.pk
