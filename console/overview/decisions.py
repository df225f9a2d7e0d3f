"""Decisions that held agents back, by hour or day.

What lets an agent go on would dwarf all others: it is left out of the chart, and said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from console.charts.bars import Bar, draw_stacked_bars, find_middle
from console.charts.plot import Mark, Plot, Tick
from console.charts.scale import build_scale, choose_places
from console.format import format_compact
from console.overview.changes import format_percent_change
from console.overview.endings import name_cause
from console.overview.figures import Count, Figures
from console.overview.links import Links
from console.overview.period import Period
from ledger.statistics.totals import Totals

HEIGHT = 182
SUBJECTS = {"steps": "Steps", "calls": "Calls"}
# Of what paused steps so many are named.
REASONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A decision that is drawn: the column it is counted in, its word and its colour."""

    column: str
    word: str
    done: str
    tone: str


# The mildest first: bars stand on it.
_HELD = {
    "steps": (
        Held(column="steps_throttle", word="throttle", done="throttled", tone="slow"),
        Held(column="steps_pause", word="pause", done="paused", tone="pause"),
        Held(column="steps_stop", word="stop", done="stopped", tone="stop"),
    ),
    "calls": (
        Held(column="calls_warn", word="warn", done="warned", tone="slow"),
        Held(
            column="calls_require_confirmation",
            word="ask a person",
            done="asked about",
            tone="pause",
        ),
        Held(column="calls_block", word="block", done="blocked", tone="stop"),
    ),
}
_FREE = {
    "steps": (
        ("Went on at once", "continue", "steps_continue"),
        ("Saved a checkpoint", "checkpoint", "steps_checkpoint"),
    ),
    "calls": (("Allowed at once", "allow", "calls_allow"),),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a colour stands for, with its sum and the change."""

    word: str
    tone: str
    total: str
    change: str
    href: str


class Reason(NamedTuple):
    """What paused steps, and how often."""

    name: str
    total: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCard:
    """`left_out` are the words that are not drawn, `reasons` what paused most."""

    subject: str
    unit: str
    keys: tuple[Key, ...]
    reasons: tuple[Reason, ...]
    plot: Plot | None
    sums: tuple[tuple[str, str, str], ...]
    left_out: tuple[str, ...]
    left_out_share: str
    href: str


def build_decision_card(
    figures: Figures, *, subject: str, paused_by: Sequence[Count], links: Links
) -> DecisionCard:
    subject = subject if subject in SUBJECTS else "steps"
    held, free, period = _HELD[subject], _FREE[subject], figures.period
    kept = sum(_get(figures.whole, each.column) for each in held)
    went = sum(_get(figures.whole, column) for *_, column in free)
    total = kept + went
    href = links.list_runs(period=period)
    share = kept / total if total else 0.0
    return DecisionCard(
        subject=subject,
        unit="an hour" if period.is_hourly else "a day",
        keys=tuple(_build_key(figures, each, href) for each in held),
        reasons=tuple(
            Reason(
                name=name_cause(each.key),
                total=f"{each.now:,}",
                href=links.list_rulings(period=period, rule=each.key),
            )
            for each in paused_by[:REASONS]
            if each.now and subject == "steps"
        ),
        plot=_draw(figures, held, links) if kept else None,
        sums=(
            *(
                (name, f"{_get(figures.whole, column):,}", "")
                for name, _, column in free
            ),
            (
                "Held back",
                f"{kept:,}",
                f"of {total:,}, {_format_share(share)}" if total else "",
            ),
        ),
        left_out=tuple(word for _, word, _ in free),
        left_out_share=_format_share(1 - share) if total else "",
        href=href,
    )


def _build_key(figures: Figures, held: Held, href: str) -> Key:
    now, before = _get(figures.whole, held.column), _get(figures.before, held.column)
    return Key(
        word=held.word,
        tone=held.tone,
        total=f"{now:,}",
        change=format_percent_change(now, before),
        href=href,
    )


def _draw(figures: Figures, held: Sequence[Held], links: Links) -> Plot:
    period = figures.period
    stacks = [[_get(each, one.column) for one in held] for each in figures.buckets]
    scale = build_scale(max(map(sum, stacks), default=0), height=HEIGHT)
    bars, rows = [], []
    for place, counts in enumerate(stacks):
        name = period.name_bucket(place)
        said = ", ".join(
            f"{count:,} {one.done}" for count, one in zip(counts, held, strict=True)
        )
        mark = Mark(title=f"{name}: {said}", href=links.list_runs_of(period, place))
        bars.append(Bar(counts=counts, mark=mark))
        rows.append((name, *(f"{count:,}" for count in counts)))
    return Plot(
        steps=tuple(format_compact(round(each)) for each in scale.steps),
        drawing=draw_stacked_bars(
            bars,
            tones=[each.tone for each in held],
            scale=scale,
            about="Decisions that held agents back, over time",
            ticks=list_bar_ticks(period),
        ),
        columns=("Hour" if period.is_hourly else "Day", *(one.done for one in held)),
        rows=tuple(rows),
    )


def list_bar_ticks(period: Period) -> list[Tick]:
    places = choose_places(period.count, wanted=5)
    return [
        Tick(
            x=find_middle(place, period.count),
            text=describe_place(period, place),
        )
        for place in places
    ]


def describe_place(period: Period, place: int) -> str:
    if place == period.count - 1:
        return "now" if period.is_hourly else "today"
    return period.name_bucket(place)


def _get(totals: Totals, column: str) -> int:
    found: int = getattr(totals, column)
    return found


def _format_share(share: float) -> str:
    return f"{100 * share:.1f} %"
