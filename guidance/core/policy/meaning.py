"""What a difference between two policies means, in words: "Rework limit: 30 % → 25 %"."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guidance.core.policy.differences import Difference, list_differences
from guidance.core.policy.policy import WORDS, PolicyError, load_policy
from guidance.core.policy.schema import ANY, POLICY_SCHEMA
from guidance.core.shell_commands.rules import RULES

_KEY = re.compile(r'"(?:[^"\\]|\\.)*"|[^.]+')
_DURATIONS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_LISTED = 3
RULE = ("tools", "rules", ANY)
# What a decision on a call is called where people read it.
CALL_WORDS = {
    "allow": "allowed",
    "warn": "noted",
    "require-confirmation": "asks a person",
    "block": "blocked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """A difference with the setting that it is about. What is left out of a policy has
    its default, so that is what it changes from or to."""

    path: tuple[str, ...]
    labels: tuple[str, ...]
    schema: Mapping[str, Any]
    before: Any
    after: Any


def read_difference(difference: Difference) -> SettingChange:
    keys = split_path(difference.path)
    path, labels, setting = _find_setting(keys)
    default = setting.get("default")
    return SettingChange(
        path=path,
        labels=labels,
        schema=setting,
        before=default if difference.change == "added" else difference.before,
        after=default if difference.change == "removed" else difference.after,
    )


def describe_difference(difference: Difference) -> str:
    """The setting by its label, and its value before and after, in the setting's unit."""
    found = read_difference(difference)
    before, after = found.before, found.after
    unit = found.schema.get("x-unit", "")
    name = ", ".join(found.labels)
    other = found.schema.get("x-default-from")
    if other and difference.change != "changed":
        same = f"as {other}"
        added = difference.change == "added"
        old = same if added else format_value(before, unit)
        new = format_value(after, unit) if added else same
        return f"{name}: {old} → {new}"
    if found.path == RULE:
        old, new = (format_rule(found.labels[-1], each) for each in (before, after))
        return f"{name}: {old} → {new}"
    if difference.change != "changed" and "default" not in found.schema:
        return f"{name}: {difference.change}"
    if is_only_wording(difference):
        return f"{name}: {format_value(after, unit)}, the default, as before"
    return f"{name}: {format_value(before, unit)} → {format_value(after, unit)}"


def format_rule(name: str, decision: str | None) -> str:
    """What a tool rule leads to; one that is left out does what is built in."""
    if decision is not None:
        return CALL_WORDS.get(decision, decision)
    built_in = RULES.get(name)
    return f"{CALL_WORDS[built_in.decision]} (built in)" if built_in else "not set"


def list_value_changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[Difference]:
    """The differences but those by which a default is only written out, or no longer."""
    found = list_differences(before, after)
    return [each for each in found if not is_only_wording(each)]


def is_only_wording(difference: Difference) -> bool:
    """A default is written out, or no longer: no value changes."""
    found = read_difference(difference)
    if difference.change == "changed":
        return False
    if "default" in found.schema:
        return bool(found.before == found.after)
    # Its default is no single value: ask for what a policy says that has nothing else.
    written = difference.after if difference.change == "added" else difference.before
    for key in reversed(split_path(difference.path)):
        written = {key: written}
    try:
        return "x-default-from" not in found.schema and _says_nothing(written)
    except PolicyError:
        return False


def _says_nothing(document: Mapping[str, Any]) -> bool:
    return load_policy(document) == load_policy({})


def split_path(path: str) -> list[str]:
    """The keys of a difference's path; those with a dot are quoted in it."""
    return [
        json.loads(key) if key.startswith('"') else key for key in _KEY.findall(path)
    ]


def _find_setting(
    keys: list[str],
) -> tuple[tuple[str, ...], tuple[str, ...], Mapping[str, Any]]:
    """The path in the schema, the labels that lead there, free names included, and the
    schema of the setting."""
    labels, path = [], []
    setting: Mapping[str, Any] = POLICY_SCHEMA
    for key in keys:
        named = setting.get("properties", {})
        inner = setting.get("additionalProperties")
        if key in named:
            path.append(key)
            setting = named[key]
            labels.append(WORDS[".".join(path)].label)
        else:
            path.append(ANY)
            setting = inner if isinstance(inner, dict) else {}
            labels.append(key)
    return tuple(path), tuple(labels), setting


def format_value(value: Any, unit: str) -> str:
    """A value of a setting as people read it."""
    if value is None:
        return "no limit"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return _format_list(value)
    if isinstance(value, dict):
        return f"{len(value)} entries" if value else "none"
    if isinstance(value, str):
        return f"${value}" if unit == "USD" else value
    if unit == "share":
        return f"{value * 100:g} %"
    if unit in ("s", "ms"):
        return _format_duration(value, unit)
    counted = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return f"{counted} {unit}" if unit and unit != "score" else counted


def _format_list(items: list[Any]) -> str:
    if not items:
        return "none"
    if len(items) > _LISTED or not all(isinstance(item, str) for item in items):
        return f"{len(items)} entries"
    return ", ".join(items)


def _format_duration(value: float, unit: str) -> str:
    """In the largest unit that divides it: 86,400 s is a day, 90 s stays as it is."""
    if unit == "ms" and value % 1_000:
        return f"{value:,} ms"
    seconds = int(value // 1_000 if unit == "ms" else value)
    size, name = next(
        (pair for pair in _DURATIONS if seconds % pair[0] == 0), _DURATIONS[-1]
    )
    return f"{seconds // size:,} {name}" if seconds else "0 s"
