"""Rules that put calls before people most often, and how people answered.

A rule that everybody approves asks too often: a manager may have a draft made of the
policy in which it warns instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from console.charts.bars import draw_split_bar
from console.overview.figures import Count
from console.overview.links import Links
from console.overview.period import Period
from guidance.core.policy.rule_drafts import build_warning_draft, is_usually_approved
from guidance.core.shell_commands.rules import RULES
from reviews.models import Kind
from reviews.statistics.counts import OPENED, RULE_ASKED
from safetext import make_visible_line

SHOWN = 6
# From so many answers on a rule can be judged here, where a draft is one press.
ANSWERED_LEAST = 10
# What is counted, in the words of the row, with its colour.
_ANSWERS = (
    ("approved", "rule_approved", "go"),
    ("changed", "rule_amended", "accent"),
    ("denied", "rule_denied", "stop"),
    ("aborted", "rule_aborted", "stop"),
    ("unanswered", "rule_expired", "n"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """`draft` is the rule as the policy has it, empty where no draft is offered."""

    rule: str
    about: str
    asked: str
    answers: tuple[tuple[str, str], ...]
    bar: SafeString
    draft: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCard:
    asked: str
    rows: tuple[RuleRow, ...]
    days: int
    href: str


def build_rule_card(
    counts: Mapping[str, Sequence[Count]],
    *,
    period: Period,
    document: Mapping[str, Any],
    links: Links,
) -> RuleCard:
    """`document` is that of the policy in force; empty where no draft can be made."""
    answers = {
        column: {each.key: each.now for each in counts[column]}
        for _, column, _ in _ANSWERS
    }
    asked = sum(each.now for each in counts[OPENED] if each.key == Kind.CONFIRMATION)
    rows = [
        _build_row(each, answers, period=period, document=document, links=links)
        for each in counts[RULE_ASKED]
        if each.now
    ]
    return RuleCard(
        asked=f"{asked:,}",
        rows=tuple(rows[:SHOWN]),
        days=7 if period.is_hourly else period.count,
        href=links.list_rulings(period=period, kind=Kind.CONFIRMATION.value),
    )


def _build_row(
    count: Count,
    answers: Mapping[str, Mapping[str, int]],
    *,
    period: Period,
    document: Mapping[str, Any],
    links: Links,
) -> RuleRow:
    given = [
        (word, answers[column].get(count.key, 0), tone)
        for word, column, tone in _ANSWERS
    ]
    rule = RULES.get(count.key)
    return RuleRow(
        rule=make_visible_line(count.key),
        about=rule.message if rule else "",
        asked=f"{count.now:,}",
        answers=tuple((word, f"{number:,}") for word, number, _ in given if number),
        bar=draw_split_bar([(tone, number) for _, number, tone in given], height=6),
        draft=count.key if _is_draft_offered(count.key, answers, document) else "",
        href=links.list_rulings(period=period, rule=count.key),
    )


def _is_draft_offered(
    rule: str, answers: Mapping[str, Mapping[str, int]], document: Mapping[str, Any]
) -> bool:
    if not document:
        return False
    answered = sum(
        answers[column].get(rule, 0)
        for word, column, _ in _ANSWERS
        if word != "unanswered"
    )
    approved = answers["rule_approved"].get(rule, 0)
    if answered < ANSWERED_LEAST:
        return False
    if not is_usually_approved(approved=approved, answered=answered):
        return False
    draft = build_warning_draft(document, rule)
    return draft is not None and draft != document
