"""Four eyes on policies: a version waits in the queue until a second manager approves it.

The review belongs to the chain of the project's policies. What follows from its end is
decided by the ruling, the expiry or the abort that ends it, in the same commit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from accounts.models import User
from guidance.core.policy import ReviewRules
from guidance.core.policy.differences import list_differences
from guidance.core.policy.meaning import describe_difference
from guidance.models import Policy, PolicyVersion
from guidance.selectors import find_active_id, get_policy
from guidance.services import DEFAULT
from ledger.plan import Plan
from ledger.state import OpenReview, RunState
from reviews.errors import FourEyes
from reviews.models import Kind, Review, ReviewState
from reviews.plan import FollowUps, open_review
from reviews.policies.activation import Activation

DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondManager:
    """Whether activating a version of a policy needs one, what holds for a review, and
    the review that waits already."""

    needed: bool = False
    rules: ReviewRules = field(default_factory=ReviewRules)
    waiting: str | None = None


class WaitingVersion(NamedTuple):
    """`review` is the one that asks about it."""

    review: str
    version: int


def load_second_manager(project_id: int, name: str) -> SecondManager:
    """By the version in force; where there is none yet, by the project's default."""
    active = find_active_id(project_id=project_id, name=name)
    active = active or find_active_id(project_id=project_id, name=DEFAULT)
    if active is None:
        return SecondManager()
    policy = get_policy(active).policy
    waiting = find_waiting(project_id, name)
    return SecondManager(
        needed=policy.four_eyes.policy,
        rules=policy.reviews,
        waiting=waiting.review if waiting else None,
    )


def find_waiting(project_id: int, name: str) -> WaitingVersion | None:
    """The version of this policy that a second manager is asked about."""
    open_reviews = Review.objects.filter(
        project_id=project_id, kind=Kind.POLICY_CHANGE, state=ReviewState.OPEN
    )
    for code, text in open_reviews.values_list("code", "content"):
        content = json.loads(text)
        if content["policy"] == name:
            return WaitingVersion(str(code), content["version"])
    return None


def ask_second_manager(
    plan: Plan,
    second: SecondManager,
    activation: Activation,
    *,
    actor: str,
    author: str | None,
    version: int,
    texts: tuple[str, str],
    tried: Mapping[str, Any] | None,
) -> str:
    """Open the review; `texts` are the documents in force and to come, and `tried` is what
    a backtest of the second found, if there was one."""
    before, after = map(json.loads, texts)
    return open_review(
        plan,
        kind=Kind.POLICY_CHANGE,
        title=f"Put version {version} of the policy {activation.name} in force?",
        content={
            "kind": str(Kind.POLICY_CHANGE),
            "policy": activation.name,
            "version": version,
            "before": activation.before.version if activation.before else None,
            "note": activation.note,
            "apply_to_running": activation.apply_to_running,
            "changes": [
                {**each.to_json(), "meaning": describe_difference(each)}
                for each in list_differences(before, after)
            ],
            "backtest": tried,
            "requested_by": actor,
            "author": author,
        },
        actor=actor,
        rules=replace(second.rules, on_expiry=DENY),
    )


@dataclass(frozen=True, kw_only=True)
class ActivationEnding:
    """What follows from the end of a review of one version."""

    content: Mapping[str, Any]
    review: str
    version: PolicyVersion
    activation: Activation

    def __call__(self, plan: Plan, *, ending: str, actor: str) -> None:
        if ending != "approve":
            self._refuse(plan, ending=ending, actor=actor)
            return
        if actor in {self.content["requested_by"], self.content["author"]}:
            raise FourEyes(
                "A second manager has to approve this: not the one who asked for it, "
                "nor the author of the version."
            )
        self.activation.add_entry(
            plan,
            actor=actor,
            version=self.version.version,
            mark=self.version.hash,
            requested_by=self.content["requested_by"],
        )
        plan.side_updates.append(partial(self.activation.store, self.version, plan.at))

    def _refuse(self, plan: Plan, *, ending: str, actor: str) -> None:
        plan.add_entry(
            "policy.refused",
            actor=actor,
            payload={
                "name": self.content["policy"],
                "version": self.content["version"],
                "review": self.review,
                "ending": ending,
            },
        )


def load_activation_endings(
    run: RunState, reviews: Sequence[OpenReview], _at: datetime
) -> FollowUps:
    codes = [review.code for review in reviews]
    rows = Review.objects.filter(code__in=codes).values_list("code", "content")
    return {
        str(code): _load_ending(run.project_id, str(code), json.loads(content))
        for code, content in rows
    }


def _load_ending(
    project_id: int, review: str, content: Mapping[str, Any]
) -> ActivationEnding:
    name = content["policy"]
    policy = Policy.objects.select_related("active").get(
        project_id=project_id, name=name
    )
    people = User.objects.filter(code=content["requested_by"].removeprefix("user:"))
    asked = content["requested_by"].startswith("user:")
    return ActivationEnding(
        content=content,
        review=review,
        version=PolicyVersion.objects.get(
            project_id=project_id, name=name, version=content["version"]
        ),
        activation=Activation(
            name=name,
            note=content["note"],
            apply_to_running=content["apply_to_running"],
            before=policy.active,
            person_id=people.values_list("pk", flat=True).get() if asked else None,
        ),
    )
