"""A policy document with one thing changed: tools allowed, or what another one says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from guidance.core.money import format_usd, parse_usd
from guidance.core.policy.limits import SCOPES
from guidance.core.policy.meaning import split_path
from guidance.core.runs.shared_limits import PARTS
from guidance.core.runs.usage import Usage
from guidance.core.shell_commands.rules import RULES
from guidance.core.tools.section import ToolRules

Document = Mapping[str, Any]

# What the gates of a step compare with, and what their figures are measured by.
GATE_SETTINGS = {
    "coherence": ("continue.min_coherence",),
    "step_limit": ("continue.max_consecutive_steps",),
    "budget": (
        "budget.tokens",
        "budget.tool_calls",
        "budget.time_ms",
        "budget.cost_usd",
    ),
    "limits": tuple(
        f"limits.{scope}.{part}"
        for scope in SCOPES
        for part in ("tokens", "tool_calls", "cost_usd")
    ),
    "rework": (
        "continue.max_rework_ratio",
        "continue.rework_window",
        "continue.rework_min_steps",
    ),
    "uncertainty": ("continue.max_uncertainty", "continue.repeat_limit"),
    "repetition": ("continue.repeat_limit",),
    "slope": (
        "continue.max_budget_slope",
        "continue.slope_window",
        "continue.slope_min_points",
    ),
    "throttle_ignored": ("continue.throttle_ignore_limit",),
    "checkpoint": ("continue.checkpoint_interval_steps",),
}


def allow_tools(document: Document, tools: Iterable[str]) -> dict[str, Any]:
    """The document with these tools on its allowlist, behind those that it has."""
    section = document.get("tools") or {}
    allowlist = section.get("allowlist") or {}
    allowed = list(dict.fromkeys([*(allowlist.get("tools") or ()), *tools]))
    return {
        **document,
        "tools": {**section, "allowlist": {**allowlist, "tools": allowed}},
    }


def raise_limits(document: Document, *, scope: str, more: Usage) -> dict[str, Any]:
    """The document with so much more in each limit of a scope that has one already."""
    limits = document.get("limits") or {}
    amounts = dict(limits.get(scope) or {})
    for part in PARTS:
        name = "cost_usd" if part == "cost_micros" else part
        limit, added = amounts.get(name), getattr(more, part)
        if limit is None or not added:
            continue
        is_money = part == "cost_micros"
        raised = (parse_usd(limit) if is_money else limit) + added
        amounts[name] = format_usd(raised) if is_money else raised
    return {**document, "limits": {**limits, scope: amounts}}


def copy_settings(
    document: Document, source: Document, paths: Iterable[str]
) -> dict[str, Any]:
    """The document with what `source` says there; left out where it says nothing."""
    changed = dict(document)
    for path in paths:
        changed = _copy(changed, source, split_path(path))
    return changed


def copy_rule(document: Document, source: Document, rule: str) -> dict[str, Any]:
    """The document in which a rule, built in or an own pattern, leads to what it leads to
    in `source`."""
    if rule not in RULES:
        return _copy_pattern(document, source, rule)
    changed = _copy(document, source, ("tools", "rules", rule))
    wanted = decide_rule(source, rule)
    if decide_rule(changed, rule) != wanted:  # a name with a star speaks of it, too
        said = {"tools": {"rules": {rule: wanted}}}
        changed = _copy(changed, said, ("tools", "rules", rule))
    return changed


def decide_rule(document: Document, rule: str) -> str | None:
    """What a rule leads to under this document; None where it has no such rule."""
    section = document.get("tools") or {}
    if rule in RULES:
        rules = ToolRules(rules=section.get("rules") or {})
        return rules.decide(rule, default=RULES[rule].decision)
    own = _list_named(document, rule)
    return own[0].get("decision", "require-confirmation") if own else None


def has_same_rule(document: Document, other: Document, rule: str) -> bool:
    if rule in RULES:
        return decide_rule(document, rule) == decide_rule(other, rule)
    return _list_named(document, rule) == _list_named(other, rule)


def _copy(document: Document, source: Document, keys: Sequence[str]) -> dict[str, Any]:
    first, *rest = keys
    changed = dict(document)
    value: Any
    if rest:
        inner = _copy(document.get(first) or {}, source.get(first) or {}, rest)
        value, said = inner, bool(inner) or first in source
    else:
        value, said = source.get(first), first in source
    if said:
        changed[first] = value
    else:
        changed.pop(first, None)
    return changed


def _copy_pattern(document: Document, source: Document, name: str) -> dict[str, Any]:
    """In the place that it has in the document, else behind the others."""
    theirs = _list_named(source, name)
    patterns: list[Any] = []
    for pattern in _list_patterns(document):
        if pattern.get("name") != name:
            patterns.append(pattern)
            continue
        patterns += theirs
        theirs = []
    said = {"tools": {"patterns": [*patterns, *theirs]}}
    if not said["tools"]["patterns"] and not _list_patterns(source):
        said = dict(source)
    return _copy(document, said, ("tools", "patterns"))


def _list_patterns(document: Document) -> list[Any]:
    return list((document.get("tools") or {}).get("patterns") or ())


def _list_named(document: Document, name: str) -> list[Any]:
    return [each for each in _list_patterns(document) if each.get("name") == name]
