"""Dependencies that were added, against the policy's lists."""

from __future__ import annotations

from collections.abc import Sequence

from guidance.core.outcomes.evaluation import Evaluation, make_unknown
from guidance.core.outcomes.facts import NAMED_LIMIT, OutcomeFacts
from guidance.core.outcomes.section import DependencyRules, Evaluators

NAME = "forbidden-dependencies"


def judge_dependencies(rules: Evaluators, facts: OutcomeFacts) -> Evaluation:
    lists = rules.forbidden_dependencies
    added = facts.seen.dependencies
    if not lists.allow and not lists.deny:
        return make_unknown(NAME, "The policy forbids no dependency")
    if not facts.seen.calls:
        return make_unknown(NAME, "Nothing is known about dependencies")
    refused = [each for each in added if not is_allowed(each.name, lists)]
    if refused:
        names = ", ".join(dict.fromkeys(each.name for each in refused[:3]))
        message = f"Added although the policy forbids it: {names}"
    elif added:
        message = f"{len(added):,} added, all of them allowed"
    else:
        message = "No dependency was added"
    return Evaluation(
        name=NAME,
        passed=not refused,
        score=1 - len(refused) / len(added) if added else 1.0,
        source="seen",
        message=message,
        details={
            "added": len(added),
            "refused": [
                {"seq": each.seq, "name": each.name, "via": each.via}
                for each in refused[:NAMED_LIMIT]
            ],
        },
    )


def is_allowed(dependency: str, lists: DependencyRules) -> bool:
    """What is denied is not allowed, whatever the other list says."""
    if _is_listed(dependency, lists.deny):
        return False
    return not lists.allow or _is_listed(dependency, lists.allow)


def _is_listed(dependency: str, names: Sequence[str]) -> bool:
    """With its registry or without; neither case nor, for Python, dashes count."""
    registry, _, bare = dependency.partition(":")
    for given in names:
        name = given.casefold()
        if registry == "pypi":
            name = name.replace("_", "-").replace(".", "-")
        for known in (bare, dependency):
            if known == name or (name[-1:] == "*" and known.startswith(name[:-1])):
                return True
    return False
