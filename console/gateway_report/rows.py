"""Rules as rows of their page: how often each asked, and how people answered."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from console.format import format_count
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.core.shell_commands.rules import RULES
from reviews.rule_report.counts import RuleCount
from reviews.rule_report.drafts import RuleDraft, render_policy
from safetext import ShownDiff, make_visible_line, show_diff

_GATES = {"confirm": "The policy or the agent asks for a person in any case"}
_ANSWERS = (
    ("approved", "go"),
    ("amended", "pause"),
    ("denied", "stop"),
    ("aborted", "stop"),
    ("expired", "mute"),
    ("waiting", "mute"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """`answers` are (word, number, tone); `draft` is empty where nothing is offered."""

    rule: str
    about: str
    asked: str
    share: str
    answers: tuple[tuple[str, int, str], ...]
    draft: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPage:
    """A draft as it is shown and copied."""

    rule: str
    policy: str
    based_on: int
    yaml: str
    diff: ShownDiff
    told: str
    judged_all: bool
    refused: tuple[tuple[str, str], ...]


def build_rule_row(
    count: RuleCount, *, slug: str, days: int, document: Mapping[str, Any]
) -> RuleRow:
    rule = RULES.get(count.rule)
    changed = build_warning_draft(document, count.rule)
    offered = changed is not None and changed != document
    draft = reverse("console:gateway-draft", args=[slug])
    query = urlencode({"rule": count.rule, "days": days})
    return RuleRow(
        rule=make_visible_line(count.rule),
        about=rule.message if rule else _GATES.get(count.rule, ""),
        asked=format_count(count.asked, "time"),
        share=_describe_share(count),
        answers=tuple(
            (word, getattr(count, word), tone)
            for word, tone in _ANSWERS
            if getattr(count, word)
        ),
        draft=f"{draft}?{query}" if offered else "",
    )


def build_draft_page(draft: RuleDraft, *, slug: str) -> DraftPage:
    before, after = render_policy(draft.before), render_policy(draft.document)
    name = f"{draft.policy}.yaml"
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        fromfile=name,
        tofile=name,
    )
    return DraftPage(
        rule=make_visible_line(draft.rule),
        policy=draft.policy,
        based_on=draft.based_on,
        yaml=after,
        diff=show_diff("".join(lines), file_name=name),
        told=draft.describe(),
        judged_all=draft.backtest.judged_all,
        refused=tuple(
            (
                make_visible_line(review.title),
                reverse("console:review", args=[slug, review.code]),
            )
            for review in draft.backtest.refused
        ),
    )


def _describe_share(count: RuleCount) -> str:
    """Such as "approved 213 of 214"; empty while nobody has answered."""
    if not count.answered:
        return ""
    return f"approved {count.approved} of {count.answered}"
