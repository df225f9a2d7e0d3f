"""What a backtest found, in a line or two; each number opens the list that it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from console.format import format_count

# The address of a list, by its filters.
Link = Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of the sentence; with an address it opens the list that it counts."""

    text: str
    address: str = ""
    tone: str = ""


def build_sentence(
    result: Mapping[str, Any], link: Link, *, ended: bool
) -> tuple[Part, ...]:
    """What the draft does, in a line or two."""
    judged, changed = result["judged"], result["changed"]
    if not judged:
        return (
            Part(text="Nothing was decided in this time." if ended else "Reading …"),
        )
    if not changed:
        return (
            Part(text="Changes nothing: "),
            Part(text=format_count(judged, "decision")),
            Part(text=" so far" if not ended else ""),
            Part(text=" come out the same."),
        )
    more, less = result["would_have_asked"], result["would_not_have_asked"]
    people = result["agrees_with_people"]
    parts: list[Part] = []
    if more:
        parts += [
            Part(text="Asks people in "),
            *_build_runs(people["asked_more"]),
            Part(text=format_count(more, "more case"), address=link(asks="more")),
            Part(text=", "),
            Part(
                text=f"{people['asked_more']['run_aborted']:,}",
                address=link(asks="more", people="agree"),
            ),
            Part(text=" of them in runs later aborted. "),
        ]
    if less:
        parts += [
            Part(text="No longer asks in "),
            Part(text=format_count(less, "case"), address=link(asks="less")),
            *_build_approvals(people["asked_less"], link),
        ]
    if not more and not less:
        parts += [
            Part(text=format_count(changed, "decision"), address=link()),
            Part(text=" come out differently; people are asked as often as before."),
        ]
    return tuple(parts)


def _build_runs(more: Mapping[str, int]) -> tuple[Part, ...]:
    """A run would have waited at the first case: the others might not have come."""
    runs = more.get("runs", 0)  # older backtests have not counted them
    return (Part(text=f"{format_count(runs, 'run')}: "),) if runs else ()


def _build_approvals(less: Mapping[str, int], link: Link) -> tuple[Part, ...]:
    """What people had said where they are no longer asked."""
    if less.get("no_ruling", 0) == less["total"]:
        return (Part(text="; nobody had ruled on them. "),)
    approved = f"{less.get('approve', 0):,}"
    return (
        Part(text="; people had approved "),
        Part(text=approved, address=link(asks="less", ruling="approve")),
        Part(text=" of those. "),
    )


def build_agreement(result: Mapping[str, Any], link: Link) -> tuple[Part, ...]:
    people, changed = result["agrees_with_people"], result["changed"]
    if not changed:
        return ()
    if people["silent"] == changed:
        whole = (
            "what changes" if changed == 1 else f"any of the {changed:,} that change"
        )
        return (Part(text=f"People had not ruled on {whole}."),)
    return (
        Part(
            text=f"Of {format_count(changed, 'decision')} that change, people’s rulings agree with "
        ),
        Part(text=f"{people['agree']:,}", address=link(people="agree")),
        Part(text=", disagree with "),
        Part(
            text=f"{people['disagree']:,}",
            address=link(people="disagree"),
            tone="stop" if people["disagree"] else "",
        ),
        Part(text=", and say nothing about "),
        Part(text=f"{people['silent']:,}", address=link(people="silent")),
        Part(text="."),
    )


def build_unknown(result: Mapping[str, Any], link: Link) -> tuple[Part, ...]:
    """How many decisions nobody can say anything about, and why."""
    if not result["unknown"]:
        return ()
    parts = [
        Part(text=f"{result['unknown']:,} unknown", address=link(unknown="any")),
        Part(text=": "),
    ]
    for reason, count in result["unknown_reasons"].items():
        comma = ", " if len(parts) > 2 else ""
        shown = (
            f"{reason} ({count:,})" if len(result["unknown_reasons"]) > 1 else reason
        )
        parts += [Part(text=comma), Part(text=shown, address=link(unknown=reason))]
    return tuple(parts)
