"""Publish policies. A version never changes; a change is a new version."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from django.db import IntegrityError, transaction

from common.errors import Invalid, StaleVersion, Unchanged
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.policy import load_policy
from guidance.core.policy.caps import Caps
from guidance.models import PolicyVersion
from guidance.selectors import LoadedPolicy, get_policy

DEFAULT = "default"
_SHIPPED = Path(__file__).parent / "policies"


def publish_policy(
    *,
    project_id: int,
    name: str,
    document: Mapping[str, Any],
    created_by_id: int | None = None,
    based_on: int | None = None,
) -> PolicyVersion:
    """The document as the next version of its name; refused if it cannot be judged by.

    With `based_on` it must be the next one after that version. What is in force already
    makes no version.
    """
    load_policy(document)
    while True:
        newest = _get_newest(project_id=project_id, name=name)
        version = newest.version if newest else 0
        if based_on is not None and version != based_on:
            raise StaleVersion(
                f"Version {version} of the policy {name} is in force now, not version "
                f"{based_on} any more."
            )
        if newest is not None and newest.hash == hash_text(to_canonical_json(document)):
            raise Unchanged(
                f"Version {version} of the policy {name} says all of this already: "
                "nothing would change."
            )
        row = _insert(
            project_id=project_id,
            name=name,
            version=version + 1,
            document=document,
            created_by_id=created_by_id,
        )
        if row is not None:
            return row


def get_policy_in_force(*, project_id: int, name: str) -> LoadedPolicy:
    """The newest version of this name; a project's default is published when absent.

    Never call it inside a larger transaction: the loaded policy is kept for ever, and
    a rollback would take back the row it was loaded from.
    """
    found = _get_newest(project_id=project_id, name=name)
    if found is None and name == DEFAULT:
        # Somebody may do the same at this moment: theirs is as good.
        found = _insert(
            project_id=project_id,
            name=DEFAULT,
            version=1,
            document=_load_shipped_policy(),
        ) or _get_newest(project_id=project_id, name=DEFAULT)
    if found is None:
        raise Invalid(
            f"The project has no policy named {name!r}.",
            errors=[{"loc": ["policy"], "message": "no such policy"}],
        )
    return get_policy(found.pk)


def get_caps_in_force(*, project_id: int) -> Caps:
    """What runs of a project share is capped by its default policy, whichever policy
    each of them is judged by. A change counts at once."""
    newest = _get_newest(project_id=project_id, name=DEFAULT)
    return get_policy(newest.pk).policy.caps if newest else Caps()


@cache
def _load_shipped_policy() -> Mapping[str, Any]:
    """Reading YAML takes longer than anything else about a project's first run."""
    document: Mapping[str, Any] = yaml.safe_load(
        (_SHIPPED / "default.yaml").read_text()
    )
    return document


def _get_newest(*, project_id: int, name: str) -> PolicyVersion | None:
    return (
        PolicyVersion.objects.filter(project_id=project_id, name=name)
        .order_by("-version")
        .first()
    )


def _insert(
    *,
    project_id: int,
    name: str,
    version: int,
    document: Mapping[str, Any],
    created_by_id: int | None = None,
) -> PolicyVersion | None:
    """None when this version exists already."""
    text = to_canonical_json(document)
    try:
        with transaction.atomic():
            return PolicyVersion.objects.create(
                project_id=project_id,
                name=name,
                version=version,
                document=text,
                hash=hash_text(text),
                created_by_id=created_by_id,
            )
    except IntegrityError:
        return None
