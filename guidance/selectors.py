"""Read which version of a policy is in force, and versions, parsed once per process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from guidance import models
from guidance.core.policy import Policy, load_policy
from guidance.models import PolicyVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPolicy:
    id: int
    name: str
    version: int
    hash: str
    policy: Policy

    def build_stamp(self) -> dict[str, Any]:
        """What stands on every decision made under this policy."""
        return {"name": self.name, "version": self.version, "hash": self.hash}


def find_active_id(*, project_id: int, name: str) -> int | None:
    """The version of a policy that is in force; None if there is none.

    Read anew each time, by one column of one row: an activation counts at once, in
    whichever process it was made.
    """
    return (
        models.Policy.objects.filter(project_id=project_id, name=name)
        .values_list("active_id", flat=True)
        .first()
    )


def find_version_in_force(*, project_id: int, name: str) -> PolicyVersion | None:
    """The same as a row, with its document and its author."""
    rows = PolicyVersion.objects.select_related("created_by")
    active = models.Policy.objects.filter(project_id=project_id, name=name).values(
        "active_id"
    )
    return rows.filter(pk__in=active).first()


@lru_cache(maxsize=1024)
def get_policy(policy_id: int) -> LoadedPolicy:
    """The policy of a version, which never changes and is therefore cached."""
    return _load(PolicyVersion.objects.get(pk=policy_id))


def _load(row: PolicyVersion) -> LoadedPolicy:
    return LoadedPolicy(
        id=row.pk,
        name=row.name,
        version=row.version,
        hash=row.hash,
        policy=load_policy(json.loads(row.document)),
    )
