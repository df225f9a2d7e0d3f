"""The scope of a plan in words: what an approval would cover, and what it would not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from guidance.core.canonical import to_canonical_json
from guidance.core.money import format_usd
from guidance.core.plans.proposal import PlanLimits

_LONGEST = 200
_UNITS = (
    (86_400_000, "day"),
    (3_600_000, "hour"),
    (60_000, "minute"),
    (1_000, "second"),
)


def describe_call(call: Mapping[str, Any], paths: Sequence[str]) -> str:
    text = f"`{shorten_line(call['covers'] or get_text(call))}`"
    if call["decision"] == "block":
        return f"{text} is blocked: the plan does not change that."
    if not call["covered"]:
        return f"{text} is not covered and asks as before: {call['why_not']}."
    return f"Runs {text} {describe_scope(call, paths)}"


def describe_scope(call: Mapping[str, Any], paths: Sequence[str]) -> str:
    """How often and where it is covered, and what for; said behind the call itself."""
    said = "once" if call["count"] == 1 else f"up to {call['count']:,} times"
    if call["scope"] == "shape":
        said += ", where # may be any number or id"
    if paths:
        said += f", only below {', '.join(paths)}"
    if not call["rules"]:
        return f"{said}. Nothing is asked about it today."
    said += f", and asks no more about {', '.join(call['rules'])}"
    if call["exact_only"]:
        exact = ", ".join(call["exact_only"])
        said += f" ({exact} only for exactly {shorten_line(get_text(call))})"
    return f"{said}."


def get_text(call: Mapping[str, Any]) -> str:
    """The command, or the arguments of the tool."""
    shown = call["shown"]
    if "command" in shown:
        return str(shown["command"])
    return f"{call['tool']} {to_canonical_json(shown.get('arguments') or {})}"


def list_limits(limits: PlanLimits) -> list[str]:
    calls = "1 call" if limits.tool_calls == 1 else f"{limits.tool_calls:,} calls"
    said = [f"{calls} in all", f"{_format_time(limits.time_ms)} from the approval on"]
    if limits.cost_micros is not None:
        said.append(f"until the run has cost ${format_usd(limits.cost_micros)} more")
    return said


def describe_uncovered(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """What an approval does not mean."""
    said = [
        "Any other call asks as before, and says that it is outside the plan.",
        "Blocks, secrets, budgets and schemas hold as without it.",
    ]
    outside = [call for step in steps for call in step["calls"] if not call["covered"]]
    if outside:
        count = len(outside)
        said.append(
            f"{count} of the calls that it names "
            + ("is not covered and asks" if count == 1 else "are not covered and ask")
            + " as before."
        )
    return said


def _format_time(time_ms: int) -> str:
    for size, unit in _UNITS:
        if time_ms >= size and time_ms % size == 0:
            count = time_ms // size
            return f"{count:,} {unit}{'' if count == 1 else 's'}"
    return f"{time_ms:,} ms"


def shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
