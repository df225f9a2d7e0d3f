"""Why agents stopped: runs that ended before their agents were done. A run that is stopped
and aborted later counts both times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from console.charts.bars import draw_share
from console.overview.changes import format_difference
from console.overview.figures import Count
from console.overview.links import Links
from console.overview.period import Period

SHOWN = 6
# Runs that finished, one way or the other: they are under acceptance.
_FINISHED = frozenset({"completed", "agent_failed", "evaluators"})
# What each cause is called, and the status that such a run has.
_CAUSES = {
    "person": ("Aborted by a person", "aborted"),
    "run_above": ("Aborted with the run above", "aborted"),
    "review_expired": ("No answer in time", "aborted"),
    "review_limit": ("Too many open reviews", "stopped"),
    "time_limit": ("Out of time", "stopped"),
    "silent": ("Agent fell silent", "abandoned"),
    "coherence": ("Coherence too low", "stopped"),
    "step_limit": ("Too long without a checkpoint", "stopped"),
    "budget": ("Run budget used up", "stopped"),
    "limits": ("Limit of agent or project", "stopped"),
    "rework": ("Too much rework", "stopped"),
    "uncertainty": ("Too unsure", "stopped"),
    "repetition": ("Kept repeating itself", "stopped"),
    "slope": ("Spending grew too fast", "stopped"),
    "throttle_ignored": ("Did not wait when told to", "stopped"),
    "unknown": ("Reason not recorded", ""),
}
# A person aborts on a run's page or in a review.
_SAME = {"ruling": "person"}
# So many more than before stand out.
_MANY_MORE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingRow:
    name: str
    count: str
    change: str
    tone: str
    bar: SafeString
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingCard:
    total: str
    unit: str
    rows: tuple[EndingRow, ...]
    more: str
    href: str


def build_ending_card(
    counts: Sequence[Count], *, period: Period, links: Links
) -> EndingCard:
    merged = _merge(counts)
    most = max((each.now for each in merged), default=0) or 1
    total = sum(each.now for each in merged)
    rest = sum(each.now for each in merged[SHOWN:])
    return EndingCard(
        total=f"{total:,}",
        unit="time" if total == 1 else "times",
        rows=tuple(_build_row(each, most, period, links) for each in merged[:SHOWN]),
        more=f"{rest:,} others" if rest else "",
        href=links.list_runs(period=period, status=("stopped", "aborted", "abandoned")),
    )


def _merge(counts: Sequence[Count]) -> list[Count]:
    sums: dict[str, tuple[int, int]] = {}
    for each in counts:
        if each.key not in _FINISHED:
            key = _SAME.get(each.key, each.key)
            now, before = sums.get(key, (0, 0))
            sums[key] = (now + each.now, before + each.before)
    merged = [Count(key, now, before) for key, (now, before) in sums.items() if now]
    return sorted(merged, key=lambda each: (-each.now, each.key))


def name_cause(key: str) -> str:
    """Of an ending or a pause, in words."""
    name, _status = _CAUSES.get(key, (key.replace("_", " "), ""))
    return name


def _build_row(count: Count, most: int, period: Period, links: Links) -> EndingRow:
    _name, status = _CAUSES.get(count.key, ("", ""))
    return EndingRow(
        name=name_cause(count.key),
        count=f"{count.now:,}",
        change=format_difference(count.change),
        tone="stop" if count.change >= _MANY_MORE else "",
        bar=draw_share(count.now / most),
        href=links.list_runs(period=period, status=status),
    )
