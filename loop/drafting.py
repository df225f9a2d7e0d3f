"""What a recommendation would change: a policy document, or a loop to be started.

A draft is only ever shown. Policies are in force by being the newest of their name, so
that nothing becomes a policy version before a person adopts it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from guidance.core.loop.proposals import Proposal, proposal_problem
from guidance.core.policy import PolicyError, load_policy
from guidance.models import PolicyVersion
from guidance.services import DEFAULT


def draft_of(change: Mapping[str, Any], *, project_id: int) -> dict[str, Any]:
    """The change made out; `problem` says why it could not be adopted, if so."""
    if "advice" in change:
        return {**change, "problem": None}  # for a person to follow: nothing is set
    newest = _newest(project_id, change.get("policy", DEFAULT))
    if newest is None:
        return {**change, "problem": "the project has no policy of this name"}
    document = json.loads(newest.document)
    if "set" not in change:
        return {**change, "problem": _loop_problem(change, document)}
    merged = _merged(document, change["set"])
    return {
        "policy": newest.name,
        "based_on": newest.version,
        "set": change["set"],
        "document": merged,
        "problem": _policy_problem(merged),
    }


def _newest(project_id: int, name: str) -> PolicyVersion | None:
    versions = PolicyVersion.objects.filter(project_id=project_id, name=name)
    return versions.order_by("-version").first()


def _policy_problem(document: Mapping[str, Any]) -> str | None:
    try:
        load_policy(document)
    except PolicyError as error:
        return str(error)
    return None


def _loop_problem(change: Mapping[str, Any], document: Mapping[str, Any]) -> str | None:
    wanted = Proposal(
        action="start_loop",
        kind=change["kind"],
        parameters=change["parameters"],
        reasoning="recommended",
    )
    return proposal_problem(wanted, load_policy(document).loop.kinds)


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
