"""Suggestions in sentences: what they rest on, and what they would have done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guidance.core.number_format import format_amount
from guidance.core.policy.differences import Difference
from guidance.core.policy.meaning import (
    describe_difference,
    format_value,
    read_difference,
)
from guidance.core.suggestions.trade_off import (
    OFFERED_FROM,
    RULINGS_LEAST,
    STOPPED_LEAST,
)

Item = Mapping[str, Any]

# What the gate does, as it reads after "it would have".
_DONE = {"pause": "asked", "stop": "stopped a run", "throttle": "slowed a run down"}


def describe_limit(item: Item) -> str:
    """Why a value is suggested, or why none is."""
    if not item["enough"]:
        return (
            f"Too little to tell by: people aborted {item['stopped']:,} and approved "
            f"{item['approved']:,}. It takes {RULINGS_LEAST} rulings, {STOPPED_LEAST} of "
            "them aborts."
        )
    today = find_point(item, item["today"])
    if item["suggested"] is None:
        return (
            f"No other value serves better: this one catches {today['caught']:,} of "
            f"{format_amount(item['stopped'], 'run')} that people aborted, and has "
            f"{_DONE[item['decision']]} in vain {format_amount(today['in_vain'], 'time')}."
        )
    then = find_point(item, item["suggested"])
    return (
        f"It would have caught {then['caught']:,} of {format_amount(item['stopped'], 'run')} that "
        f"people aborted (today {today['caught']:,}), and {_DONE[item['decision']]} in "
        f"vain {format_amount(then['in_vain'], 'time')} (today {today['in_vain']:,})."
    )


def describe_basis(item: Item) -> str:
    """On how much it rests."""
    rulings = item["stopped"] + item["approved"]
    return (
        f"Rests on {format_amount(rulings, 'ruling')}, {format_amount(item['stopped'], 'abort')} and "
        f"{format_amount(item['approved'], 'approval')}, and on "
        f"{format_amount(item['completed'], 'run')} that completed unasked."
    )


def count_rulings(item: Item) -> int:
    """Count the people's rulings that a suggested limit or rule rests on."""
    approved: int = item["approved"]
    return approved if "rule" in item else approved + int(item["stopped"])


def is_offered(item: Item) -> bool:
    """Decide whether a suggestion rests on enough to be made a draft."""
    suggested = "rule" in item or item["suggested"] is not None
    return suggested and count_rulings(item) >= OFFERED_FROM


def describe_missing(item: Item) -> str:
    """Why there is no draft of it."""
    rulings = format_amount(count_rulings(item), "ruling")
    return f"Only {rulings} so far: a draft takes {OFFERED_FROM}."


def describe_rule(item: Item) -> str:
    approved = item["approved"]
    said = f"Asked {format_amount(item['asked'], 'time')}: people approved {approved:,}"
    rest = [
        f"{item[name]:,} {words}"
        for name, words in (
            ("expired", "expired unanswered"),
            ("waiting", "still waiting"),
            ("ended", "ended with their run"),
        )
        if item[name]
    ]
    said += ", and denied or changed none."
    return f"{said} {', '.join(rest)}." if rest else said


def describe_change(item: Item) -> str:
    """The setting with its value before and after."""
    if "rule" in item:
        return f"{item['rule']}: asks a person → noted"
    return describe_difference(_build_difference(item))


def get_unit(item: Item) -> str:
    unit: str = read_difference(_build_difference(item)).schema.get("x-unit", "")
    return unit


def format_limit(item: Item, value: Any) -> str:
    return format_value(value, get_unit(item))


def find_point(item: Item, value: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(
        point for point in item["points"] if point["value"] == value
    )
    return found


def _build_difference(item: Item) -> Difference:
    return Difference(
        path=item["setting"],
        change="changed",
        before=item["today"],
        after=item["today"] if item["suggested"] is None else item["suggested"],
    )
