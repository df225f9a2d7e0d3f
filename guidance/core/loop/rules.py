"""The default decider: ordered rules that people can read; the first match decides.

A rule fits when its trigger, the trigger's data and the figures of the snapshot all fit.
What is not known fits nothing, and a text that names what is not there fits nothing
either: no rule acts on a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from guidance.core.canonical import to_canonical_json
from guidance.core.loop.facts import Snapshot, Trigger
from guidance.core.loop.proposals import REASONING_LIMIT, Proposal
from guidance.core.loop.vocabulary import DO_NOTHING

PLACE = re.compile(r"\{([a-z_]+(?:\.[A-Za-z0-9_-]+)*)\}")
# As much of a trigger's data as one place in a text may take.
FILLED_LIMIT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """Any of these may be left out; those that are given all have to hold."""

    __test__ = False  # not one of pytest's

    among: tuple[Any, ...] = ()
    at_least: float | None = None
    at_most: float | None = None

    def holds(self, value: object) -> bool:
        if self.among and not any(_is_same(value, wanted) for wanted in self.among):
            return False
        if self.at_least is None and self.at_most is None:
            return bool(self.among)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return (self.at_least is None or value >= self.at_least) and (
            self.at_most is None or value <= self.at_most
        )

    def to_json(self) -> Any:
        if self.among:
            return self.among[0] if len(self.among) == 1 else list(self.among)
        given = {"at_least": self.at_least, "at_most": self.at_most}
        return {name: value for name, value in given.items() if value is not None}


def _is_same(value: object, wanted: object) -> bool:
    # true is not 1: they only compare alike.
    return type(value) is type(wanted) and value == wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRule:
    """`triggers` empty: any. `data` and `figures` are what has to hold, by name."""

    name: str
    triggers: tuple[str, ...] = ()
    data: Mapping[str, Test] = field(default_factory=dict)
    figures: Mapping[str, Test] = field(default_factory=dict)
    action: str
    kind: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reason: str

    def build_proposal(self, trigger: Trigger, snapshot: Snapshot) -> Proposal | None:
        """What the rule wants, None where it does not fit."""
        if self.triggers and trigger.type not in self.triggers:
            return None
        if not all(t.holds(find_value(trigger.data, n)) for n, t in self.data.items()):
            return None
        if not all(t.holds(snapshot.get_figure(n)) for n, t in self.figures.items()):
            return None
        try:
            return Proposal(
                action=self.action,
                kind=self.kind,
                parameters=_fill(self.parameters, trigger, snapshot),
                reasoning=_fill_text(self.reason, trigger, snapshot)[:REASONING_LIMIT],
                rule=self.name,
            )
        except LookupError:
            return None

    def to_json(self) -> dict[str, Any]:
        when: dict[str, Any] = {}
        if self.triggers:
            when["trigger"] = list(self.triggers)
        for name, tests in (("data", self.data), ("snapshot", self.figures)):
            if tests:
                when[name] = {key: test.to_json() for key, test in tests.items()}
        chosen: dict[str, Any] = {"do": self.action}
        if self.kind is not None:
            chosen["kind"] = self.kind
        if self.parameters:
            chosen["parameters"] = dict(self.parameters)
        return {"name": self.name, "when": when, **chosen, "reason": self.reason}


def decide_by_rules(
    rules: tuple[LoopRule, ...], *, trigger: Trigger, snapshot: Snapshot
) -> Proposal:
    """The first rule that fits; to do nothing, with its reason, if none does."""
    for rule in rules:
        proposal = rule.build_proposal(trigger, snapshot)
        if proposal is not None:
            return proposal
    return Proposal(
        action=DO_NOTHING,
        reasoning=f"No rule fits {trigger.type} as things stand.",
    )


def find_value(data: Mapping[str, Any], path: str) -> object:
    """A value of the data by its dotted name; None where there is none."""
    value: object = data
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _fill(value: Any, trigger: Trigger, snapshot: Snapshot) -> Any:
    if isinstance(value, Mapping):
        return {key: _fill(part, trigger, snapshot) for key, part in value.items()}
    if isinstance(value, list):
        return [_fill(part, trigger, snapshot) for part in value]
    if not isinstance(value, str):
        return value
    alone = PLACE.fullmatch(value)
    # A text that is nothing but a place takes its value as it is: a number stays one.
    return (
        _look_up(alone[1], trigger, snapshot)
        if alone
        else _fill_text(value, trigger, snapshot)
    )


def _fill_text(template: str, trigger: Trigger, snapshot: Snapshot) -> str:
    def fill(place: re.Match[str]) -> str:
        value = _look_up(place[1], trigger, snapshot)
        text = value if isinstance(value, str) else to_canonical_json(value)
        return text[:FILLED_LIMIT]

    return PLACE.sub(fill, template)


def _look_up(name: str, trigger: Trigger, snapshot: Snapshot) -> Any:
    root, _, path = name.partition(".")
    if name == "trigger":
        return trigger.type
    value = (
        find_value(trigger.data, path) if root == "data" else snapshot.get_figure(name)
    )
    if value is None:
        raise LookupError(name)
    return value
