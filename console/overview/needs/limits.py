"""Limits that runs share, and that are used up or nearly so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from console.format import format_compact, format_exact_money, format_money
from console.overview.links import Links
from console.overview.needs.need import Need, name_some
from guidance.core.runs.shared_limits import NOTICE_PERCENTS
from safetext import make_visible_line

# From the second notice on a limit is near: the first still leaves a quarter.
NEAR = NOTICE_PERCENTS[1]
_PARTS = {"tokens": "tokens", "tool_calls": "calls", "cost_micros": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedLimit:
    """`agent` is empty for a limit of the project; `span` is "today" or "this month";
    `policy` is the one that sets it."""

    agent: str
    span: str
    part: str
    used: int
    limit: int
    policy: str = ""

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
    """One item for those that are reached and one for those that soon will be; of an
    agent or project several limits count once."""
    near = sorted(
        (each for each in limits if each.percent >= NEAR), key=lambda each: -each.share
    )
    reached = [each for each in near if each.is_reached]
    soon = [each for each in near if not each.is_reached]
    if reached:
        yield _build_need(reached, "stop", "over its limit", "over a limit", links)
    if soon:
        yield _build_need(soon, "pause", "near its limit", "near a limit", links)


def _build_need(
    found: list[UsedLimit], tone: str, one: str, several: str, links: Links
) -> Need:
    owners = list(dict.fromkeys(each.owner for each in found))
    first = found[0]
    alone = len(owners) == 1
    return Need(
        tone=tone,
        icon="coin",
        title=f"{owners[0]} {one}" if alone else f"{len(owners)} {several}",
        about=(
            f"{first.used_text} of {first.limit_text} {first.span}"
            if alone
            else name_some(owners)
        ),
        href=links.list_runs(agent=first.agent if alone else "", sort="-cost"),
        harm=1 if tone == "stop" else 4,
    )
