"""What a person rules on, in words: what would run first, then why it is asked about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkrail.answers import Review
from checkrail.cli.output import age
from checkrail.cli.visible import visible

# What a person reads first, and what only a program needs.
FIRST = ("shown", "action", "parameters", "title", "detail", "summary")
LAST = ("kind", "call_kind", "tool", "call", "check", "digest", "expires_s")
# Says nothing about what is judged: what a reviewer may let run again, and where in the
# text a finding stands.
LEFT_OUT = frozenset({"permittable"})


def content_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """All that is to be judged: what is not shown cannot be approved."""
    names = [name for name in content if name not in LEFT_OUT]
    for name in sorted(names, key=lambda name: (_place(name), name)):
        yield from _part(name, content[name])


def _place(name: str) -> int:
    if name in FIRST:
        return 0
    if name == "findings":
        return 1
    return 3 if name in LAST else 2


def _part(name: str, value: Any) -> Iterator[str]:
    if value in (None, "", [], {}):
        return
    if name == "findings":
        yield "found:"
        yield from (f"  {line}" for line in _findings(value))
    elif isinstance(value, Mapping):
        for inner, part in value.items():
            yield from _part(inner if name == "shown" else f"{name}.{inner}", part)
    elif isinstance(value, str) and ("\n" in value or name not in LAST):
        yield f"{visible(name)}:"
        yield from (f"  {line}" for line in visible(value).split("\n"))
    else:
        yield f"{visible(name)}: {visible(_text(value))}"


def _findings(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for found in findings:
        said = " ".join(
            visible(str(found[part]))
            for part in ("message", "remediation")
            if found.get(part)
        )
        rule = (found.get("details") or {}).get("rule")
        gate = visible(f"{found.get('gate')}, {rule}" if rule else f"{found['gate']}")
        yield f"- {said} ({gate})"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def waiting_sentence(review: Review) -> str:
    """Empty where nothing is known."""
    waiting = review.waiting
    if waiting is None:
        return ""
    if waiting.now:
        return "An agent is waiting."
    if waiting.last_at is None:
        return "No agent has waited for this yet."
    return f"No agent has waited for {age(waiting.last_at)}."


def waiting_cell(review: Review) -> str:
    waiting = review.waiting
    if waiting is None:
        return ""
    if waiting.now:
        return "yes"
    return f"{age(waiting.last_at)} ago" if waiting.last_at else "not yet"


def ruled_sentence(review: Review) -> str:
    """What becomes of a ruling, by who waited for it when it was given."""
    if review.waiting is None:
        return "The agent hears it as soon as it asks."
    if review.waiting.now:
        return "The agent has it now."
    return "No agent is waiting just now: the ruling is kept, for when the agent asks again."
