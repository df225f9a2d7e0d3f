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
from guidance.core.policy.caps import Caps
from guidance.models import Policy, PolicyActivation, PolicyVersion
from guidance.selectors import LoadedPolicy, find_active_id, get_policy

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
