"""What a recommendation would change: a policy document, or a loop to be started.

A draft is only ever shown. Policies are in force by being the newest of their name, so
that nothing becomes a policy version before a person adopts it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from guidance.core.canonical import canonical
from guidance.core.loop.proposals import Proposal, proposal_problem
from guidance.core.policy import PolicyError, load_policy
from guidance.core.policy.differences import list_differences
from guidance.models import PolicyVersion
from guidance.services import DEFAULT
from loop.models import OPEN, Recommendation

Newest = Callable[[int, str], PolicyVersion | None]


def draft_of(change: Mapping[str, Any], *, project_id: int) -> dict[str, Any]:
    """The change made out; `problem` says why it could not be adopted, if so."""
    return _draft(change, project_id, get_newest)


def build_drafter() -> Callable[[Recommendation], dict[str, Any] | None]:
    """For a list of them: how each stands to the policy in force, which is read once.

    What was answered keeps the draft that was answered.
    """
    newest = cache(get_newest)

    def build_draft(row: Recommendation) -> dict[str, Any] | None:
        if row.state not in OPEN:
            stored: dict[str, Any] | None = json.loads(row.draft)
            return stored
        return _draft(json.loads(row.change), row.project_id, newest)

    return build_draft


def get_newest(project_id: int, name: str) -> PolicyVersion | None:
    versions = PolicyVersion.objects.filter(project_id=project_id, name=name)
    return versions.order_by("-version").first()


def _draft(
    change: Mapping[str, Any], project_id: int, newest: Newest
) -> dict[str, Any]:
    if "advice" in change:
        return {**change, "problem": None}  # for a person to follow: nothing is set
    found = newest(project_id, change.get("policy", DEFAULT))
    if found is None:
        return {**change, "problem": "the project has no policy of this name"}
    document, text = found.document, canonical(change)
    if "set" not in change:
        return {**change, "problem": _loop_problem(document, text)}
    return {
        "policy": found.name,
        "based_on": found.version,
        **_policy_draft(document, text),
    }


# A page shows the same drafts again and again, and loading a policy takes milliseconds.
# Each entry holds a whole policy: no more of them are kept than one page shows.
DRAFTS_KEPT = 50


@lru_cache(maxsize=DRAFTS_KEPT)
def _policy_draft(in_force: str, change: str) -> dict[str, Any]:
    document, wanted = json.loads(in_force), json.loads(change)["set"]
    merged = _merged(document, wanted)
    return {
        "set": wanted,
        "document": merged,
        "changes": [one.to_json() for one in list_differences(document, merged)],
        "problem": _policy_problem(merged),
    }


def _policy_problem(document: Mapping[str, Any]) -> str | None:
    try:
        load_policy(document)
    except PolicyError as error:
        return str(error)
    return None


@lru_cache(maxsize=DRAFTS_KEPT)
def _loop_problem(in_force: str, text: str) -> str | None:
    change = json.loads(text)
    wanted = Proposal(
        action="start_loop",
        kind=change["kind"],
        parameters=change["parameters"],
        reasoning="recommended",
    )
    return proposal_problem(wanted, load_policy(json.loads(in_force)).loop.kinds)


def _merged(document: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Objects are merged key by key; everything else is put in the place of the old."""
    merged = dict(document)
    for key, value in change.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged
