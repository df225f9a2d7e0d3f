"""Read what a policy's history suggests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Subquery

from accounts.models import Project
from common.errors import NotFound
from guidance.models import Policy, PolicyVersion
from guidance.selectors import find_version_in_force
from ledger.chain import format_timestamp
from reviews.models import JobState, SuggestionSearch
from reviews.policies.selectors import list_versions
from reviews.policies.suggestions.sentences import (
    describe_basis,
    describe_change,
    describe_limit,
    describe_rule,
    is_offered,
)

Item = Mapping[str, Any]
_NOTHING = {"steps": 0, "runs": 0, "other": 0, "counted_all": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """`newest` is the last search, `finished` the last that was done; None where nobody
    has looked yet. `in_force` is the version that a draft would change."""

    project: Project
    policy: str
    in_force: PolicyVersion | None
    newest: SuggestionSearch | None
    finished: SuggestionSearch | None
    result: Mapping[str, Any]

    @property
    def stale(self) -> bool:
        """Whether another version is in force now: its limits were not looked at."""
        in_force = self.in_force.version if self.in_force else None
        return self.finished is not None and self.finished.version != in_force

    @property
    def limits(self) -> list[Item]:
        """All that were looked at; those with a suggestion first, and of these those that
        rest on enough."""
        found: list[Item] = self.result.get("limits", [])
        return sorted(
            found,
            key=lambda each: (
                each["suggested"] is None,
                not is_offered(each),
                not each["enough"],
            ),
        )

    @property
    def rules(self) -> list[Item]:
        found: list[Item] = self.result.get("rules", [])
        return sorted(found, key=lambda each: not is_offered(each))

    def get_limit(self, setting: str) -> Item:
        return self._get(self.limits, setting)

    def get_suggested(self, setting: str) -> Item:
        """Of a limit or a rule; NotFound where nothing is suggested."""
        suggested = [each for each in self.limits if each["suggested"] is not None]
        return self._get([*suggested, *self.rules], setting)

    def _get(self, items: list[Item], setting: str) -> Item:
        for item in items:
            if item["setting"] == setting:
                return item
        raise NotFound


def get_suggestions(project: Project, name: str) -> Suggestions:
    """NotFound if there is no such policy."""
    list_versions(project, name)
    searches = SuggestionSearch.objects.filter(project=project, policy=name)
    newest = searches.order_by("-pk").first()
    finished = newest
    if newest is not None and newest.state != JobState.FINISHED:
        finished = searches.filter(state=JobState.FINISHED).order_by("-pk").first()
    return Suggestions(
        project=project,
        policy=name,
        in_force=find_version_in_force(project_id=project.pk, name=name),
        newest=newest,
        finished=finished,
        result=json.loads(finished.result) if finished else {},
    )


def count_suggestions(project: Project, name: str) -> int:
    """Count what can be made a draft of the last finished search, by one query; nothing if
    another version is in force by now."""
    in_force = Policy.objects.filter(project=project, name=name)
    found = (
        SuggestionSearch.objects.filter(
            project=project, policy=name, state=JobState.FINISHED
        )
        .order_by("-pk")
        .annotate(in_force=Subquery(in_force.values("active__version")[:1]))
        .values_list("version", "in_force", "result")
        .first()
    )
    if found is None or found[0] != found[1]:
        return 0
    result = json.loads(found[2])
    return sum(map(is_offered, [*result["limits"], *result["rules"]]))


def serialize_suggestions(found: Suggestions) -> dict[str, Any]:
    newest, finished = found.newest, found.finished
    return {
        "project": found.project.slug,
        "policy": found.policy,
        "state": newest.state if newest else None,
        "reason": (newest.reason or None) if newest else None,
        "progress": {"done": newest.done, "total": newest.total} if newest else None,
        "version": finished.version if finished else None,
        "stale": found.stale,
        "since": format_timestamp(finished.since) if finished else None,
        "until": format_timestamp(finished.until) if finished else None,
        **{name: found.result.get(name, usual) for name, usual in _NOTHING.items()},
        "limits": [
            {
                **limit,
                "meaning": _describe_suggested(limit),
                "because": describe_limit(limit),
                "rests_on": describe_basis(limit),
                "offered": is_offered(limit),
            }
            for limit in found.limits
        ],
        "rules": [
            {
                **rule,
                "meaning": describe_change(rule),
                "because": describe_rule(rule),
                "offered": is_offered(rule),
            }
            for rule in found.rules
        ],
    }


def _describe_suggested(limit: Item) -> str | None:
    return None if limit["suggested"] is None else describe_change(limit)
