"""One rule of a policy document, read strictly: what it names has to exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guidance.core.document_reader import Section
from guidance.core.loop.facts import FIELDS
from guidance.core.loop.kinds import LoopKind
from guidance.core.loop.rules import PLACE, LoopRule, Test
from guidance.core.loop.vocabulary import ACTIONS, DO_NOTHING, TRIGGERS
from guidance.core.settings import Words

_NAME_LIMIT = 64
_REASON_LIMIT = 500
RULE_WORDS = {
    "*.when": Words("When", "All of these have to fit."),
    "*.when.trigger": Words("Trigger", "What woke the loop: any of these."),
    "*.when.data": Words("Data", "What the signal says."),
    "*.when.snapshot": Words("Snapshot", "What the loop has counted."),
    "*.name": Words("Name", "Stands on the decision."),
    "*.do": Words("Do", "The action."),
    "*.kind": Words("Loop", "Which one start_loop starts."),
    "*.parameters": Words("Parameters", "What the action is given."),
    "*.reason": Words("Reason", "What people read."),
}


def read_rule(section: Section, kinds: Mapping[str, LoopKind]) -> LoopRule:
    when = section.read_part("when")
    rule = LoopRule(
        name=section.read_text("name", most=_NAME_LIMIT),
        triggers=_read_triggers(when),
        data=_read_tests(when, "data"),
        figures=_read_tests(when, "snapshot"),
        action=section.read_choice("do", DO_NOTHING, among=ACTIONS),
        kind=section.read_text("kind", most=_NAME_LIMIT, default="") or None,
        parameters=section.read_free("parameters"),
        reason=section.read_text("reason", most=_REASON_LIMIT),
    )
    for name in rule.figures:
        if name.partition(".")[0] not in FIELDS:
            when.refuse(f"snapshot.{name}", f"the snapshot has {', '.join(FIELDS)}")
    for place in _list_places([rule.reason, rule.parameters]):
        root = place.partition(".")[0]
        if place != "trigger" and root not in ("data", *FIELDS):
            section.refuse("reason", f"nothing is called {{{place}}}")
    if section.is_valid("do") and (rule.action == "start_loop") != (
        rule.kind is not None
    ):
        section.refuse(
            "kind", "start_loop names the loop to start, and nothing else does"
        )
    elif rule.kind is not None and rule.kind not in kinds:
        section.refuse("kind", "no kind has this name")
    when.close()
    section.close()
    return rule


def _read_triggers(section: Section) -> tuple[str, ...]:
    def unknown(name: str) -> str | None:
        return None if name in TRIGGERS else f"must be one of {', '.join(TRIGGERS)}"

    return section.read_texts("trigger", (), problem=unknown, among=TRIGGERS)


def _read_tests(section: Section, name: str) -> dict[str, Test]:
    tests = {}
    for key, wanted in section.read_free(name).items():
        test = _read_test(wanted)
        if test is None:
            section.refuse(
                f"{name}.{key}",
                "must be a value, a list of values, or at_least and at_most",
            )
        else:
            tests[key] = test
    return tests


def _read_test(wanted: object) -> Test | None:
    if isinstance(wanted, Mapping):
        bounds = {name: wanted.get(name) for name in ("at_least", "at_most")}
        sound = all(value is None or _is_number(value) for value in bounds.values())
        given = [value for value in bounds.values() if value is not None]
        if not sound or not given or len(given) != len(wanted):
            return None
        return Test(at_least=bounds["at_least"], at_most=bounds["at_most"])
    among = wanted if isinstance(wanted, list) else [wanted]
    if not among or not all(
        isinstance(item, str | bool | int | float) for item in among
    ):
        return None
    return Test(among=tuple(among))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list_places(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [place for part in value.values() for place in _list_places(part)]
    if isinstance(value, list):
        return [place for part in value for place in _list_places(part)]
    return PLACE.findall(value) if isinstance(value, str) else []
