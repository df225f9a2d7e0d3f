"""Writes: publishing policies. A version never changes; a change is a new version."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from django.db import IntegrityError, transaction
from django.db.models import Max

from accounts.errors import Invalid
from guidance.core.canonical import canonical, digest
from guidance.core.policy import load_policy
from guidance.models import PolicyVersion

DEFAULT = "default"
_SHIPPED = Path(__file__).parent / "policies"


def policy_publish(
    *,
    project_id: int,
    name: str,
    document: Mapping[str, Any],
    created_by_id: int | None = None,
) -> PolicyVersion:
    """The document as the next version of its name; refused if it cannot be judged by."""
    load_policy(document)
    text = canonical(document)
    while True:
        newest = PolicyVersion.objects.filter(
            project_id=project_id, name=name
        ).aggregate(newest=Max("version"))["newest"]
        try:
            with transaction.atomic():
                return PolicyVersion.objects.create(
                    project_id=project_id,
                    name=name,
                    version=(newest or 0) + 1,
                    document=text,
                    hash=digest(text),
                    created_by_id=created_by_id,
                )
        except IntegrityError:
            continue  # somebody published at the same moment: take the next number


def policy_in_force(*, project_id: int, name: str) -> PolicyVersion:
    """The newest version of this name; a project's default is published when absent."""
    found = (
        PolicyVersion.objects.filter(project_id=project_id, name=name)
        .order_by("-version")
        .first()
    )
    if found is not None:
        return found
    if name != DEFAULT:
        raise Invalid(
            f"The project has no policy named {name!r}.",
            errors=[{"loc": ["policy"], "message": "no such policy"}],
        )
    document = yaml.safe_load((_SHIPPED / "default.yaml").read_text())
    return policy_publish(project_id=project_id, name=DEFAULT, document=document)
