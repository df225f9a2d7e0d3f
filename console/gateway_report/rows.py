"""Rules as rows of their page: how often each asked, and how people answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.format import format_count
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.core.shell_commands.rules import RULES
from reviews.queue.rule_counts import RuleCount
from safetext import make_visible_line

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
    """`answers` are (word, number, tone); `name` is the rule as the policy has it, empty
    where no draft is offered."""

    rule: str
    about: str
    asked: str
    share: str
    answers: tuple[tuple[str, int, str], ...]
    name: str


def build_rule_row(count: RuleCount, *, document: Mapping[str, Any]) -> RuleRow:
    rule = RULES.get(count.rule)
    changed = build_warning_draft(document, count.rule)
    offered = count.is_usually_approved and changed not in (None, document)
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
        name=count.rule if offered else "",
    )


def _describe_share(count: RuleCount) -> str:
    """Such as "approved 213 of 214"; empty while nobody has answered."""
    if not count.answered:
        return ""
    return f"approved {count.approved} of {count.answered}"
