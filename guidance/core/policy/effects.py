"""Which way a change of a policy goes: "Pauses sooner", "Asks less"."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from guidance.core.policy.differences import Difference
from guidance.core.policy.meaning import SettingChange, read_difference
from guidance.core.shell_commands.rules import RULES
from guidance.core.vocabulary import choose_most_severe_call, get_call_severity


class Effect(NamedTuple):
    """`decision` is the kind of decision that becomes more or less frequent."""

    words: str
    decision: str = ""


# What a step leads to sooner where the number is lower, or where it is higher.
_LOWER = {
    "continue.max_rework_ratio": ("Pauses", "pause"),
    "continue.max_uncertainty": ("Pauses", "pause"),
    "continue.repeat_limit": ("Pauses", "pause"),
    "continue.throttle_ignore_limit": ("Pauses", "pause"),
    "continue.max_consecutive_steps": ("Stops", "stop"),
    "continue.max_budget_slope": ("Slows down", "throttle"),
    "budget.tokens": ("Stops", "stop"),
    "budget.tool_calls": ("Stops", "stop"),
    "budget.time_ms": ("Stops", "stop"),
    "budget.cost_usd": ("Stops", "stop"),
    "evaluators.diff_quality.max_rework_ratio": ("Fails runs", "stop"),
    "evaluators.violation_rate.max_rate": ("Fails runs", "stop"),
}
_HIGHER = {"continue.min_coherence": ("Stops", "stop")}
_ASKING = ("tools.confirm", "tools.always_ask")
_MODEL = "tools.first_look."
_CHANGES = {"added": "Added", "changed": "Changed", "removed": "Removed"}


def describe_effect(difference: Difference) -> Effect:
    found = read_difference(difference)
    path = ".".join(found.path)
    if path in _LOWER or path in _HIGHER:
        return _compare_limits(path, found)
    if path in _ASKING:
        return _compare_asking(len(found.before), len(found.after))
    if path == f"{_MODEL}rules":
        return _compare_asking(len(found.after), len(found.before))
    if path == f"{_MODEL}enabled":
        return _compare_asking(bool(found.after), bool(found.before))
    if path == "tools.rules.*":
        return _compare_rules(found)
    return Effect(_CHANGES[difference.change])


def _compare_limits(path: str, found: SettingChange) -> Effect:
    words, decision = _LOWER.get(path) or _HIGHER[path]
    before, after = _read_number(found.before), _read_number(found.after)
    if before is None or after is None or before == after:
        return Effect("Changed")
    if (after < before) == (path in _LOWER):
        return Effect(f"{words} sooner", decision)
    return Effect(f"{words} later", "continue")


def _compare_asking(before: int, after: int) -> Effect:
    if before == after:
        return Effect("Changed")
    more = after > before
    return Effect("Asks more", "pause") if more else Effect("Asks less", "continue")


def _compare_rules(found: SettingChange) -> Effect:
    """A rule that is left out leads to what is built in; of a star, the strictest."""
    name = found.labels[-1]
    built_in = [each.decision for each in RULES.values() if _is_named(each.name, name)]
    usual = choose_most_severe_call(built_in) if built_in else None
    before, after = found.before or usual, found.after or usual
    if before is None or after is None or before == after:
        return Effect("Changed")
    if after == "block":
        return Effect("Blocks", "stop")
    # The most severe one is the first.
    return _compare_asking(-get_call_severity(before), -get_call_severity(after))


def _is_named(rule: str, name: str) -> bool:
    return rule.startswith(name[:-1]) if name.endswith("*") else rule == name


def _read_number(value: Any) -> Decimal | None:
    """No limit is the highest one."""
    try:
        return Decimal("Infinity") if value is None else Decimal(str(value))
    except InvalidOperation:
        return None
