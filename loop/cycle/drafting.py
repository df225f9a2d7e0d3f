"""Drafts: what adopting a recommendation would change in the policy in force.

A draft is only shown. It becomes a version of the policy when a person adopts it, and is
in force when a person activates that version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from guidance.core.canonical import to_canonical_json
from guidance.core.loop.proposals import Proposal, find_proposal_problem
from guidance.core.policy import PolicyError, load_policy
from guidance.core.policy.differences import list_differences
from guidance.models import PolicyVersion
from guidance.selectors import find_version_in_force
from guidance.services import DEFAULT
from loop.models import OPEN, Recommendation

Find = Callable[..., PolicyVersion | None]


def build_draft(change: Mapping[str, Any], *, project_id: int) -> dict[str, Any]:
    """The change applied; `problem` says why it could not be adopted, or is None."""
    return apply_change(change, find_changed_policy(change, project_id=project_id))


def build_drafter() -> Callable[[Recommendation], dict[str, Any] | None]:
    """A function that drafts many recommendations and reads each policy once.

    Those that were adopted or dismissed keep their stored draft.
    """
    find = cache(find_version_in_force)

    def draft_row(row: Recommendation) -> dict[str, Any] | None:
        if row.state not in OPEN:
            stored: dict[str, Any] | None = json.loads(row.draft)
            return stored
        change = json.loads(row.change)
        policy = find_changed_policy(change, project_id=row.project_id, find=find)
        return apply_change(change, policy)

    return draft_row


def find_changed_policy(
    change: Mapping[str, Any], *, project_id: int, find: Find = find_version_in_force
) -> PolicyVersion | None:
    """The version in force of the policy that a change is about; None for advice."""
    if "advice" in change:
        return None
    return find(project_id=project_id, name=change.get("policy", DEFAULT))


def apply_change(
    change: Mapping[str, Any], found: PolicyVersion | None
) -> dict[str, Any]:
    """The draft of a change on top of the policy that `find_changed_policy` found."""
    if "advice" in change:
        return {**change, "problem": None}  # a person follows it; nothing is set
    if found is None:
        return {**change, "problem": "the project has no policy of this name"}
    document, text = found.document, to_canonical_json(change)
    if "set" not in change:
        return {**change, "problem": _find_loop_problem(document, text)}
    return {
        "policy": found.name,
        "based_on": found.version,
        **_build_policy_draft(document, text),
    }


# A page shows the same drafts again and again, and loading a policy takes milliseconds.
# Each holds a whole policy, so only as many are kept as one page shows.
DRAFTS_KEPT = 50


@lru_cache(maxsize=DRAFTS_KEPT)
def _build_policy_draft(in_force: str, change: str) -> dict[str, Any]:
    document, wanted = json.loads(in_force), json.loads(change)["set"]
    merged = _merge(document, wanted)
    return {
        "set": wanted,
        "document": merged,
        "changes": [one.to_json() for one in list_differences(document, merged)],
        "problem": _find_policy_problem(merged),
    }


def _find_policy_problem(document: Mapping[str, Any]) -> str | None:
    try:
        load_policy(document)
    except PolicyError as error:
        return str(error)
    return None


@lru_cache(maxsize=DRAFTS_KEPT)
def _find_loop_problem(in_force: str, text: str) -> str | None:
    change = json.loads(text)
    wanted = Proposal(
        action="start_loop",
        kind=change["kind"],
        parameters=change["parameters"],
        reasoning="recommended",
    )
    return find_proposal_problem(wanted, load_policy(json.loads(in_force)).loop.kinds)


def _merge(document: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Merge objects key by key; any other value replaces the old one."""
    merged = dict(document)
    for key, value in change.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _merge(old, value)
        else:
            merged[key] = value
    return merged
