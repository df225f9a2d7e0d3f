"""Amounts, money and times as the console writes them.

`static/js/times.js` writes ticking times in the same words.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from guidance.core.number_format import format_percent_beside


def format_compact(amount: int) -> str:
    """1830 as "1.8k", 412000 as "412k", 1200000 as "1.2M"."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        # From 999.5k on a figure would round up to a four-digit one: next letter.
        if amount >= size * 0.9995:
            value = amount / size
            text = f"{value:.1f}" if value < 99.95 else f"{value:.0f}"
            return text.removesuffix(".0") + letter
    return str(amount)


def format_count(amount: int, one: str, several: str = "") -> str:
    """An amount with its noun: "1 step", "1,204 steps"; `several` where no s makes it."""
    return f"{amount:,} {one if amount == 1 else several or one + 's'}"


def format_money(micros: int) -> str:
    """Dollars with two places; below a cent as many as it takes to see something."""
    places = 2 if micros == 0 or micros >= 10_000 else 4
    return f"${micros / 1_000_000:,.{places}f}"


def format_exact_money(micros: int) -> str:
    """Dollars to the last fraction of a cent that is there, and to the cent."""
    whole, rest = f"{micros / 1_000_000:,.6f}".split(".")
    return f"${whole}.{rest.rstrip('0').ljust(2, '0')}"


def format_change(share: float, *, limit: float | None = None) -> str:
    """A slope in per cent with its sign ("+1.3 %"); a flat one has none ("0 %").

    Beside a limit it has as many decimals as tell it from that."""
    if f"{abs(share) * 100:.1f}" == "0.0":
        return "0 %"
    if share < 0:
        return f"\N{MINUS SIGN}{abs(share) * 100:.1f} %"
    if limit is None:
        return f"+{share * 100:.1f} %"
    return f"+{format_percent_beside(share, limit, places=1)}"


def format_seconds(seconds: float) -> str:
    """A span in its two largest units: "14 m 22 s", "1 h 52 m", "2 d 3 h"."""
    total = max(0, int(seconds))
    days, hours = total // 86_400, total // 3_600 % 24
    minutes, rest = total // 60 % 60, total % 60
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {minutes} m" if minutes else f"{hours} h"
    return f"{minutes} m {rest} s" if minutes else f"{rest} s"


def format_span(milliseconds: int) -> str:
    """An amount of time: the same words, without seconds that are none."""
    return format_seconds(milliseconds / 1000).removesuffix(" 0 s")


def format_elapsed(milliseconds: int) -> str:
    """How long one thing took: "340 ms", "1.2 s", "2 m 5 s"."""
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 10_000:
        return f"{milliseconds / 1000:.1f} s"
    return format_span(milliseconds)


def format_clock(seconds: float) -> str:
    """A short wait: "0:09", "14:22"; from an hour on in words."""
    total = max(0, int(seconds))
    return (
        format_seconds(total) if total >= 3_600 else f"{total // 60}:{total % 60:02d}"
    )


def format_ago(seconds: float) -> str:
    total = max(0, int(seconds))
    if total < 5:
        return "just now"
    if total < 60:
        return f"{total} s ago"
    return format_span((total - total % 60) * 1000) + " ago"


def format_left(seconds: float) -> str:
    """Until a moment, or since: "11 m left", "2 h 14 m late"."""
    total = abs(int(seconds))
    rest = total % 60 if total >= 60 else 0
    words = format_span((total - rest) * 1000)
    return f"{words} {'left' if seconds > 0 else 'late'}"


def format_iso(at: datetime) -> str:
    """For `<time datetime>`: UTC, to the millisecond."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def to_milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMoment:
    """When it was for programs, and how long that is for people."""

    at: str
    words: str


def build_past_moment(moment: datetime, at: datetime) -> ShownMoment:
    return ShownMoment(
        at=format_iso(moment), words=format_ago((at - moment).total_seconds())
    )


def build_past_moment_or_none(
    moment: datetime | None, at: datetime
) -> ShownMoment | None:
    return None if moment is None else build_past_moment(moment, at)


def build_future_moment(moment: datetime | None, at: datetime) -> ShownMoment | None:
    """None where it is not ahead any more."""
    if moment is None or moment <= at:
        return None
    return ShownMoment(
        at=format_iso(moment), words=format_seconds((moment - at).total_seconds())
    )


def render_time(moment: ShownMoment, tick: str = "ago") -> SafeString:
    """As `static/js/times.js` keeps it current; `tick` is "ago", "left" or "words"."""
    return format_html(
        '<time datetime="{}" data-tick="{}">{}</time>', moment.at, tick, moment.words
    )
