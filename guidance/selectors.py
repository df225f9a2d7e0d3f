"""Read which version of a policy is in force, and versions, parsed once per process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from guidance import models
from guidance.core.jcs import to_jcs
from guidance.core.policy import Policy, load_policy
from guidance.core.policy.assignments import Assignment, Match
from guidance.models import PolicyVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPolicy:
    id: int
    name: str
    version: int
    hash: str
    policy: Policy
    # The stamp as text, written once for all decisions (bench steps).
    stamp: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stamp", to_jcs(self.build_stamp()))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChoice:
    """From which policies a run gets its own: those in force by name, each with the id of
    its version, the assignments in order, the one for all other runs, and whether agents
    may choose for themselves."""

    active: Mapping[str, int]
    assignments: Sequence[Assignment]
    default: str
    agents_choose: bool


def load_policy_choice(*, project_id: int) -> PolicyChoice:
    """All of it by one query, as each run that begins needs it."""
    names = [f"assignments__{each.name}" for each in fields(Match)]
    rows = (
        models.Policy.objects.filter(project_id=project_id, active__isnull=False)
        .order_by("assignments__position")
        .values_list(
            *("name", "active_id", "project__agents_choose_policy"),
            *("project__default_policy", "assignments__position", *names),
        )
    )
    active, assignments, default, agents_choose = {}, [], "", False
    for name, version, choose, chosen, position, *values in rows:
        active[name], agents_choose, default = version, choose, chosen
        if position is not None:
            named = dict(
                zip([each.name for each in fields(Match)], values, strict=True)
            )
            assignments.append(Assignment(match=Match(**named), policy=name))
    return PolicyChoice(
        active=active,
        assignments=assignments,
        default=default,
        agents_choose=agents_choose,
    )


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
