"""A figure beside that of the period before, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from console.format import format_seconds

AS_BEFORE = "as before"
NOT_KNOWN = "none before to compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`icon` points where it went; `tone` says whether that is good, empty where it is
    neither."""

    words: str
    icon: str = ""
    tone: str = ""


def compare_amounts(
    now: float,
    before: float,
    *,
    was: str,
    good: str = "",
    less: str = "less",
    calm: bool = False,
) -> Change:
    """In per cent of what it `was`: "9 % more than 100". `good` is "more", "less"
    or empty; where the opposite is not bad, it is `calm`."""
    if not before:
        return Change(words=NOT_KNOWN if now else AS_BEFORE)
    percent = round(100 * (now - before) / before)
    if percent == 0:
        return Change(words=AS_BEFORE)
    amount = f"{abs(percent):,} %"
    change = _build_change(amount, percent > 0, good=good, less=less, was=was)
    return replace(change, tone="") if calm and change.tone == "stop" else change


def compare_counts(now: int, before: int, *, good: str = "") -> Change:
    """In numbers, for what happens seldom: "24 more than before"."""
    if now == before:
        return Change(words=AS_BEFORE)
    amount = f"{abs(now - before):,}"
    return _build_change(amount, now > before, good=good, less="fewer")


def compare_shares(now: float | None, before: float | None) -> Change:
    """In points of a per cent, of a share that should be high."""
    if now is None or before is None:
        return Change(words=NOT_KNOWN)
    points = round(100 * now) - round(100 * before)
    if points == 0:
        return Change(words=AS_BEFORE)
    amount = f"{abs(points)} point{'s' if abs(points) != 1 else ''}"
    word, icon, tone = (
        ("better", "up", "go") if points > 0 else ("worse", "fall", "stop")
    )
    return Change(words=f"{amount} {word}", icon=icon, tone=tone)


def compare_points(now: float | None, before: float | None) -> Change:
    """The same of a share that is neither good nor bad."""
    if now is None or before is None:
        return Change(words=NOT_KNOWN)
    points = round(100 * now) - round(100 * before)
    if points == 0:
        return Change(words=AS_BEFORE)
    amount = f"{abs(points)} point{'s' if abs(points) != 1 else ''}"
    return _build_change(amount, points > 0, good="", less="fewer")


def compare_waits(now: float | None, before: float | None) -> Change:
    """Of a time that should be short, in seconds."""
    if now is None or before is None:
        return Change(words=NOT_KNOWN)
    difference = round(now) - round(before)
    if difference == 0:
        return Change(words=AS_BEFORE)
    amount = format_seconds(abs(difference))
    if difference < 0:
        return Change(words=f"{amount} faster", icon="fall", tone="go")
    return Change(words=f"{amount} slower", icon="up", tone="pause")


def format_difference(amount: int) -> str:
    """With its sign, and a plain 0."""
    if not amount:
        return "0"
    return f"+{amount:,}" if amount > 0 else f"\N{MINUS SIGN}{-amount:,}"


def format_percent_change(now: int, before: int) -> str:
    """Such as "+11 % from 100"; empty where there was nothing before."""
    if not before:
        return ""
    percent = format_difference(round(100 * (now - before) / before))
    return f"{percent} % from {before:,}"


def _build_change(
    amount: str, grew: bool, *, good: str, less: str, was: str = ""
) -> Change:
    went = "more" if grew else "less"
    tone = "" if not good else "go" if went == good else "stop"
    word = "more" if grew else less
    return Change(
        words=f"{amount} {word} than {was or 'before'}",
        icon="up" if grew else "fall",
        tone=tone,
    )
