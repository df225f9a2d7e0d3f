"""What the filters of the page offer, and ready-made questions."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from accounts.models import Membership
from accounts.selectors import list_agents
from console.rulings.filters import (
    ACTIONS,
    KINDS,
    LABELS,
    OUTCOME_WORDS,
    PERIODS,
    PageFilters,
    change,
    choose,
    describe_value,
)
from guidance.core.checks import SEVERITIES
from guidance.core.shell_commands.rules.rule import DESTRUCTIVE
from reviews.models import APPROVING
from reviews.past_rulings.filters import RulingSearch, filter_rulings
from reviews.past_rulings.reviewers import FAST_MS

_LIMIT = 30
_SPEEDS = {"3000": "under 3 s", "10000": "under 10 s", "60000": "under 1 m"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value of a filter, and the address of the list with it."""

    words: str
    query: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    name: str
    choices: tuple[Choice, ...]


def list_menus(search: RulingSearch, filters: PageFilters) -> list[Menu]:
    """One for each filter that has something to choose from."""
    found = {
        "by": _list_people(search.project_id),
        "action": [*ACTIONS],
        "rule": _list_rules(search),
        "agent": [a.name for a in list_agents(project_id=search.project_id)[:_LIMIT]],
        "severity": [*SEVERITIES],
        "kind": [*KINDS],
        "outcome": [*OUTCOME_WORDS],
    }
    menus = [
        Menu(
            name=LABELS[name],
            choices=tuple(_build_choice(filters, name, value) for value in values),
        )
        for name, values in found.items()
        if values
    ]
    speeds = tuple(
        Choice(
            words=words,
            query=change(filters, faster_than_ms=int(value)).build_query(),
            chosen=str(filters.faster_than_ms) == value,
        )
        for value, words in _SPEEDS.items()
    )
    return [*menus, Menu(name="Read", choices=speeds)]


def list_periods(filters: PageFilters) -> list[Choice]:
    return [
        Choice(
            words=words,
            query=change(filters, period=name).build_query(),
            chosen=filters.period == name,
        )
        for name, (words, _) in PERIODS.items()
    ]


def list_questions(filters: PageFilters, *, viewer: str) -> list[Choice]:
    """Lists that are asked for again and again, one click away."""
    let_run = ("approve", "amend")
    questions = {
        "All rulings": PageFilters(period=filters.period),
        "Fast approvals": PageFilters(
            chosen={"action": APPROVING},
            faster_than_ms=FAST_MS,
            period=filters.period,
        ),
        "Destructive, approved this month": PageFilters(
            chosen={"action": let_run, "rule": (DESTRUCTIVE,)}, period="month"
        ),
        "Regretted": PageFilters(regretted=True, period=filters.period),
        "Mine": PageFilters(chosen={"by": (viewer,)}, period=filters.period),
    }
    asked = change(filters, sort="newest")
    return [
        Choice(words=words, query=wanted.build_query(), chosen=wanted == asked)
        for words, wanted in questions.items()
    ]


def _build_choice(filters: PageFilters, name: str, value: str) -> Choice:
    return Choice(
        words=describe_value(name, value),
        query=choose(filters, name, value).build_query(),
        chosen=value in filters.chosen.get(name, ()),
    )


def _list_people(project_id: int) -> list[str]:
    members = Membership.objects.filter(project_id=project_id)
    return list(
        members.order_by("user__username").values_list("user__username", flat=True)[
            :_LIMIT
        ]
    )


def _list_rules(search: RulingSearch) -> list[str]:
    """Those of the period that asked most often, behind the family of destructive ones."""
    everything = RulingSearch(project_id=search.project_id, since=search.since)
    counted = (
        filter_rulings(everything)
        .values_list("rule")
        # Rows are counted, not ids, which the index of rules does not have.
        .annotate(count=Count("*"))
        .order_by("-count", "rule")
    )
    rules = [rule for rule, _ in counted[:_LIMIT]]
    return list(dict.fromkeys([DESTRUCTIVE, *rules])) if rules else []
