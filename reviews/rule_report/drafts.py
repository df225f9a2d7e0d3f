"""The draft of a policy change for one rule, and what it would have changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml

from guidance.core.policy import load_policy
from guidance.core.policy.differences import list_differences
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.models import PolicyVersion
from guidance.services import DEFAULT, get_policy_in_force
from reviews.rule_report.backtest import Backtest, judge_past_calls

_SAID = {
    "approve": "approved",
    "amend": "changed",
    "deny": "denied",
    "abort": "ended the run for",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleDraft:
    """The whole document, as a later version of the policy would have it."""

    rule: str
    policy: str
    based_on: int
    before: Mapping[str, Any]
    document: Mapping[str, Any]
    backtest: Backtest

    def to_json(self) -> dict[str, Any]:
        changes = list_differences(self.before, self.document)
        return {
            "rule": self.rule,
            "policy": self.policy,
            "based_on": self.based_on,
            "document": self.document,
            "changes": [change.to_json() for change in changes],
            "backtest": self.backtest.to_json(),
        }

    def describe(self) -> str:
        """What would have become of past calls, in a sentence or two."""
        found = self.backtest
        if not found.calls:
            return "No past call would have been judged otherwise."
        calls = "1 call" if found.calls == 1 else f"{found.calls} calls"
        told = f"Of {calls} that it asked about, {found.changed} would have run with a"
        told += " warning instead."
        answers = [
            f"{said} {found.answers[action]}"
            for action, said in _SAID.items()
            if found.answers[action]
        ]
        if answers:
            told += f" Of those, people {', '.join(answers)}."
        if found.still_asked:
            told += f" Another rule asks about {found.still_asked} as well."
        if found.settled:
            told += f" {found.settled} would not be asked about today either."
        return told


def build_rule_draft(
    *, project_id: int, rule: str, days: int, at: datetime
) -> RuleDraft | None:
    """`warn` instead of asking, in the policy in force; None where nothing changes."""
    policy = get_policy_in_force(project_id=project_id, name=DEFAULT)
    document = json.loads(PolicyVersion.objects.get(pk=policy.id).document)
    drafted = build_warning_draft(document, rule)
    if drafted is None or drafted == document:
        return None
    return RuleDraft(
        rule=rule,
        policy=policy.name,
        based_on=policy.version,
        before=document,
        document=drafted,
        backtest=judge_past_calls(
            project_id=project_id,
            rule=rule,
            before=policy.policy.tools,
            after=load_policy(drafted).tools,
            days=days,
            at=at,
        ),
    )


def render_policy(document: Mapping[str, Any]) -> str:
    """The document as people write it."""
    return (
        yaml.safe_dump(
            dict(document), sort_keys=False, allow_unicode=True, width=88
        ).rstrip()
        + "\n"
    )
