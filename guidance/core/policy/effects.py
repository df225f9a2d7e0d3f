"""Which way a change of a policy goes: "Pauses sooner", "Asks less"."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from guidance.core.policy.differences import Difference
from guidance.core.policy.meaning import SettingChange, read_difference
from guidance.core.policy.policy import Policy
from guidance.core.settings import Setting, walk_settings
from guidance.core.shell_commands.rules import RULES
from guidance.core.vocabulary import choose_most_severe_call, get_call_severity


class Effect(NamedTuple):
    """`decision` is the kind of decision that becomes more or less frequent."""

    words: str
    decision: str = ""


# The kind of decision that a setting declares to come sooner or later.
_DECISIONS = {
    "Pauses": "pause",
    "Stops": "stop",
    "Slows down": "throttle",
    "Fails runs": "stop",
}
_ASKING = ("tools.confirm", "tools.always_ask")
_MODEL = "tools.first_look."
_LIMITS = dict(walk_settings(Policy))
_CHANGES = {"added": "Added", "changed": "Changed", "removed": "Removed"}


def describe_effect(difference: Difference) -> Effect:
    found = read_difference(difference)
    path = ".".join(found.path)
    limit = _LIMITS.get(path) or _LIMITS.get(path.rpartition(".")[0])
    if limit is not None and (limit.lower or limit.higher):
        return _compare_limits(limit, found)
    if path in _ASKING:
        return _compare_asking(len(found.before), len(found.after))
    if path == f"{_MODEL}rules":
        return _compare_asking(len(found.after), len(found.before))
    if path == f"{_MODEL}enabled":
        return _compare_asking(bool(found.after), bool(found.before))
    if path == "tools.rules.*":
        return _compare_rules(found)
    return Effect(_CHANGES[difference.change])


def _compare_limits(limit: Setting, found: SettingChange) -> Effect:
    words = limit.lower or limit.higher
    before, after = _read_number(found.before), _read_number(found.after)
    if before is None or after is None or before == after:
        return Effect("Changed")
    if (after < before) == bool(limit.lower):
        return Effect(f"{words} sooner", _DECISIONS[words])
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
