"""Reads: a policy version, ready to judge by."""

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

    def stamp(self) -> dict[str, Any]:
        """What stands on every decision made under this policy."""
        return {"name": self.name, "version": self.version, "hash": self.hash}


@lru_cache(maxsize=1024)
def policy_by_id(policy_id: int) -> LoadedPolicy:
    """A version never changes, so it is parsed once per process."""
    return _loaded(PolicyVersion.objects.get(pk=policy_id))


def _loaded(row: PolicyVersion) -> LoadedPolicy:
    return LoadedPolicy(
        id=row.pk,
        name=row.name,
        version=row.version,
        hash=row.hash,
        policy=load_policy(json.loads(row.document)),
    )
