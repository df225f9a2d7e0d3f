"""What a person rules on, in words: what would run first, then why it is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from checkrail.answers import Review
from checkrail.cli.lines import render_line, render_named
from checkrail.cli.output import format_age

# What a person reads first, and what only a program needs.
FIRST = ("shown", "action", "parameters", "title", "detail", "summary")
LAST = ("kind", "call_kind", "tool", "call", "check", "digest", "expires_s")
# Says nothing about what is judged: what a reviewer may let run again, and where in the
# text a finding stands.
LEFT_OUT = frozenset({"permittable"})


def render_content(content: Mapping[str, Any]) -> Iterator[str]:
    """All that is to be judged: what is not shown cannot be approved."""
    names = [name for name in content if name not in LEFT_OUT]
    for name in sorted(names, key=lambda name: (_get_rank(name), name)):
        yield from _render_part(name, content[name])


def _get_rank(name: str) -> int:
    if name in FIRST:
        return 0
    if name == "findings":
        return 1
    return 3 if name in LAST else 2


def _render_part(name: str, value: Any) -> Iterator[str]:
    if value in (None, "", [], {}):
        return  # of our own fields; what is empty inside one is shown
    if name == "findings":
        yield "found:"
        yield from (f"  - {_render_finding(found)}" for found in value)
    elif name in LAST and isinstance(value, str):
        yield f"{name}: {render_line(value)}"
    else:
        yield from render_named(name, value)


def _render_finding(found: Mapping[str, Any]) -> str:
    text = " ".join(
        str(found[part]) for part in ("message", "remediation") if found.get(part)
    )
    rule = (found.get("details") or {}).get("rule")
    gate = f"{found['gate']}, {rule}" if rule else found["gate"]
    return render_line(f"{text} ({gate})")


def describe_waiting(review: Review) -> str:
    """Empty where nothing is known."""
    waiting = review.waiting
    if waiting is None:
        return ""
    if waiting.now:
        return "An agent is waiting."
    if waiting.last_at is None:
        return "No agent has waited for this yet."
    return f"No agent is waiting; the last was seen {format_age(waiting.last_at)} ago."


def render_waiting_cell(review: Review) -> str:
    waiting = review.waiting
    if waiting is None:
        return ""
    if waiting.now:
        return "yes"
    return f"{format_age(waiting.last_at)} ago" if waiting.last_at else "not yet"


def describe_ruling_effect(review: Review) -> str:
    """What becomes of a ruling, by who waited for it when it was given."""
    if review.waiting is None:
        return "The agent hears it as soon as it asks."
    if review.waiting.now:
        return "The agent has it now."
    return "No agent is waiting just now: the ruling is kept, for when the agent asks again."
