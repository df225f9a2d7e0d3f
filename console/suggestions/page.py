"""Suggestions as their page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse

from console.format import ShownMoment, build_past_moment, format_count
from console.policies.changes import TONES
from console.suggestions.chart import LOW, TradeOffChart, build_chart
from guidance.core.policy.differences import Difference
from guidance.core.policy.effects import describe_effect
from guidance.core.policy.policy import WORDS
from guidance.core.shell_commands.rules import RULES
from ledger.models import Run
from reviews.models import JobState
from reviews.policies.suggestions.selectors import Suggestions
from reviews.policies.suggestions.sentences import (
    Item,
    describe_basis,
    describe_limit,
    describe_missing,
    describe_rule,
    format_limit,
    is_offered,
)
from safetext import make_visible_line

# How a stretch of a run ended.
_OUTCOMES = {
    "stopped": ("aborted by a person", "stop"),
    "approved": ("approved", "go"),
    "completed": ("completed unasked", "mute"),
}
_ANSWERS = {
    "approved": "go",
    "amended": "pause",
    "denied": "stop",
    "aborted": "stop",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitCard:
    """`suggested` is empty where nothing is suggested, `missing` where a draft is offered."""

    setting: str
    label: str
    today: str
    suggested: str
    effect: str
    tone: str
    because: str
    basis: str
    missing: str
    address: str
    chart: TradeOffChart


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCard:
    """`calls` are (title, address, answer, tone), the newest first."""

    setting: str
    rule: str
    about: str
    asked: int
    approved: int
    denied: int
    unanswered: int
    because: str
    missing: str
    calls: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionPage:
    """`ended` is None where nobody has looked yet; `enough` is false where people have
    ruled too little to say anything about any limit."""

    limits: tuple[LimitCard, ...]
    others: tuple[LimitCard, ...]
    rules: tuple[RuleCard, ...]
    state: str
    reason: str
    share: float
    progress: str
    version: int | None
    in_force: int | None
    stale: bool
    ended: ShownMoment | None
    basis: str
    more: bool
    enough: bool

    @property
    def running(self) -> bool:
        return self.state in (JobState.WAITING, JobState.RUNNING)

    @property
    def count(self) -> int:
        """The number of those that a draft is offered of."""
        return sum(not each.missing for each in self.limits) + sum(
            not each.missing for each in self.rules
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StretchRow:
    """A run that one of the two values holds and the other does not."""

    task: str
    agent: str
    address: str
    value: str
    outcome: str
    tone: str


def build_suggestion_page(found: Suggestions, at: datetime) -> SuggestionPage:
    newest, finished, slug = found.newest, found.finished, found.project.slug
    cards = [build_limit_card(each, found) for each in found.limits]
    result = found.result
    total = newest.total if newest else 0
    done = newest.done if newest else 0
    return SuggestionPage(
        limits=tuple(each for each in cards if each.suggested),
        others=tuple(each for each in cards if not each.suggested),
        rules=tuple(_build_rule(each, slug) for each in found.rules),
        state=newest.state if newest else "",
        reason=newest.reason if newest else "",
        share=min(100.0, 100 * done / total) if total else 0.0,
        progress=f"{done:,} of {format_count(total, 'entry', 'entries')} read",
        version=finished.version if finished else None,
        in_force=found.in_force.version if found.in_force else None,
        stale=found.stale,
        ended=build_past_moment(finished.ended_at, at)
        if finished and finished.ended_at
        else None,
        basis=_describe_reading(result) if finished else "",
        more=bool(result) and not result["counted_all"],
        enough=any(each["enough"] for each in found.limits),
    )


def build_limit_card(item: Item, found: Suggestions, *, height: int = LOW) -> LimitCard:
    suggested = item["suggested"]
    effect = describe_effect(
        Difference(
            path=item["setting"],
            change="changed",
            before=item["today"],
            after=item["today"] if suggested is None else suggested,
        )
    )
    return LimitCard(
        setting=item["setting"],
        label=_get_label(item["setting"]),
        today=format_limit(item, item["today"]),
        suggested="" if suggested is None else format_limit(item, suggested),
        effect=effect.words,
        tone=TONES.get(effect.decision, "line"),
        because=describe_limit(item),
        basis=describe_basis(item),
        missing="" if is_offered(item) else describe_missing(item),
        address=reverse(
            "console:policy-suggestion",
            args=[found.project.slug, found.policy, item["setting"]],
        ),
        chart=build_chart(item, height=height),
    )


def list_stretches(item: Item, slug: str) -> tuple[StretchRow, ...]:
    """Some of the runs that make the difference, by one query."""
    rows = Run.objects.filter(code__in=[each["run"] for each in item["examples"]])
    runs = {str(run.code): run for run in rows.select_related("agent")}
    return tuple(
        StretchRow(
            task=make_visible_line(runs[each["run"]].task),
            agent=make_visible_line(runs[each["run"]].agent.name),
            address=reverse("console:run", args=[slug, each["run"]]),
            value=format_limit(item, _round(each["value"])),
            outcome=_OUTCOMES[each["outcome"]][0],
            tone=_OUTCOMES[each["outcome"]][1],
        )
        for each in item["examples"]
        if each["run"] in runs
    )


def _round(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def _get_label(setting: str) -> str:
    section, _, _ = setting.partition(".")
    label = WORDS[setting].label
    return f"{WORDS[section].label}: {label}" if section == "budget" else label


def _build_rule(item: Item, slug: str) -> RuleCard:
    rule = RULES.get(item["rule"])
    return RuleCard(
        setting=item["setting"],
        rule=make_visible_line(item["rule"]),
        about=rule.message if rule else "",
        asked=item["asked"],
        approved=item["approved"],
        denied=item["denied"],
        unanswered=item["expired"] + item["waiting"] + item["ended"],
        because=describe_rule(item),
        missing="" if is_offered(item) else describe_missing(item),
        calls=tuple(
            (
                make_visible_line(call["title"]),
                reverse("console:review", args=[slug, call["review"]]),
                call["answer"],
                _ANSWERS.get(call["answer"], "mute"),
            )
            for call in item["calls"]
        ),
    )


def _describe_reading(result: Mapping[str, Any]) -> str:
    runs, steps = (
        format_count(result["runs"], "run"),
        format_count(result["steps"], "step"),
    )
    said = f"{runs} with {steps}"
    if result["other"]:
        said += f", {result['other']:,} of them measured in another way and left out"
    return said
