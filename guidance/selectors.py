"""Read policy versions, parsed once per process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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
