"""Limits that runs share, and that are used up or nearly so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from console.format import format_compact, format_exact_money, format_money
from console.limits.rows import PERIOD_NAMES
from console.overview.links import Links
from console.overview.needs.need import Act, Need, name_some
from guidance.core.runs.shared_limits import NOTICE_PERCENTS
from safetext import make_visible_line

# From the second notice on a limit is near: the first still leaves a quarter.
NEAR = NOTICE_PERCENTS[1]
# Owners of limits that have an item of their own; the others share one.
SHOWN = 3
_PARTS = {"tokens": "tokens", "tool_calls": "calls", "cost_micros": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedLimit:
    """`agent` is empty for a limit of the project; `policy` is the one that sets it."""

    agent: str
    scope: str
    part: str
    used: int
    limit: int
    policy: str = ""

    @property
    def span(self) -> str:
        return PERIOD_NAMES[self.scope].lower()

    @property
    def share(self) -> float:
        return self.used / self.limit if self.limit else 1.0

    @property
    def percent(self) -> int:
        return int(self.share * 100)

    @property
    def is_reached(self) -> bool:
        return self.used >= self.limit

    @property
    def owner(self) -> str:
        return make_visible_line(self.agent) if self.agent else "Project"

    @property
    def used_text(self) -> str:
        """In short, but for what would then look equal to its limit and is not."""
        short = self._format(self.used)
        alike = self.used != self.limit and short == self._format(self.limit)
        if not alike:
            return short
        money = self.part == "cost_micros"
        return format_exact_money(self.used) if money else f"{self.used:,}"

    @property
    def limit_text(self) -> str:
        words = f"{self._format(self.limit)} {_PARTS[self.part]}".rstrip()
        return words.removesuffix(".00")

    def _format(self, amount: int) -> str:
        if self.part != "cost_micros":
            return format_compact(amount)
        return format_money(amount)


def find_near_limits(limits: Iterable[UsedLimit], *, links: Links) -> Iterator[Need]:
    """An item for each agent or project with its fullest limit, those that are reached
    first; where there are many, one for all the others."""
    near = sorted(
        (each for each in limits if each.percent >= NEAR), key=lambda each: -each.share
    )
    fullest: dict[str, UsedLimit] = {}
    for each in near:
        fullest.setdefault(each.agent, each)
    found = list(fullest.values())
    shown = found if len(found) <= SHOWN + 1 else found[:SHOWN]
    yield from (_build_need(each, links) for each in shown)
    others = found[len(shown) :]
    if others:
        reached = sum(each.is_reached for each in others)
        yield Need(
            tone="stop" if reached else "pause",
            icon="coin",
            title=f"{len(others)} more at a limit"
            if reached
            else f"{len(others)} more near a limit",
            about=name_some([each.owner for each in others]),
            href=links.open_limits(),
            harm=1 if reached else 4,
        )


def _build_need(limit: UsedLimit, links: Links) -> Need:
    reached = limit.is_reached
    return Need(
        tone="stop" if reached else "pause",
        icon="coin",
        title=f"{limit.owner} {'over' if reached else 'near'} its limit",
        about=f"{limit.used_text} of {limit.limit_text} {limit.span}",
        href=links.list_runs(agent=limit.agent, sort="-cost"),
        harm=1 if reached else 4,
        acts=(
            Act("Raise", links.raise_limit(limit.scope, limit.agent), "", "managers"),
            Act(
                "Halt",
                links.halt_at_limit(limit.scope, limit.agent),
                "danger",
                "reviewers",
            ),
        ),
    )
