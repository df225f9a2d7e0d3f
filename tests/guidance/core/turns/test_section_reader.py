"""The turns section: every key has a default, bounds and a reason to refuse."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from guidance.core.document_reader import LIST_LIMIT
from guidance.core.turns.default_phrases import NUDGE
from guidance.core.turns.phrases import Phrases
from guidance.core.turns.section import TurnRules
from tests.guidance.core.policy.dumps import dump_turns
from tests.guidance.core.turns.builders import read, rules
from tests.support.rows import each_row

FULL: dict[str, Any] = {
    "threshold": 70,
    "warn_from": 50,
    "max_retries": 2,
    "intent_phrases": ["onwards"],
    "completion_phrases": ["the end"],
    "summary_phrases": [],
    "nudge": "Go on.",
    "models": {
        "mini-*": {"threshold": 80},
        "mini-m2": {"max_retries": 0, "intent_phrases": ["next, i'll"]},
        "*": {"nudge": "Onwards."},
    },
}


def test_nothing_said_is_the_default() -> None:
    assert rules() == TurnRules()
    assert (rules().threshold, rules().warn_from, rules().max_retries) == (60, 40, 3)
    assert rules().nudge == NUDGE
    assert rules().models == {}


def test_every_key_is_read_and_written_again() -> None:
    assert set(FULL) == {field.name for field in fields(TurnRules)}
    found = rules(**FULL)
    assert dump_turns(found) == FULL
    assert rules(**FULL) == found
    assert found.intent_phrases == Phrases(("onwards",))


def test_the_defaults_are_written_and_read_again() -> None:
    document = dump_turns(TurnRules())
    assert rules(**document) == TurnRules()


@each_row(
    ("model", "changed"),
    [
        ("mini-m2", {"max_retries": 0, "intent_phrases": Phrases(("next, i'll",))}),
        ("mini-m2.5", {"threshold": 80}),
        ("mini-", {"threshold": 80}),
        ("mini", {"nudge": "Onwards."}),
        ("Mini-m2", {"nudge": "Onwards."}),
        ("mini-*", {"threshold": 80}),
    ],
)
def test_the_most_specific_model_wins(model: str, changed: dict[str, Any]) -> None:
    found = rules(**FULL)
    own = found.get_for_model(model)
    common = found.get_for_model(None)
    assert common.models == own.models == {}
    for field in fields(TurnRules):
        value = changed.get(field.name, getattr(common, field.name))
        assert getattr(own, field.name) == value


def test_the_longer_beginning_wins() -> None:
    found = rules(models={"a*": {"threshold": 70}, "ab*": {"threshold": 80}, "abc": {}})
    thresholds = [
        found.get_for_model(name).threshold for name in ("abd", "ax", "b", "abc")
    ]
    assert thresholds == [80, 70, 60, 60]


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("threshold", 40, 101), ("warn_from", 0, 60), ("max_retries", 0, 100)],
)
def test_figures_may_reach_their_bounds_and_not_pass_them(
    name: str, low: int, high: int
) -> None:
    for bound in (low, high):
        assert getattr(rules(**{name: bound}), name) == bound
    for wrong in (low - 1, 102, True, "1", 1.0, None):
        assert read(**{name: wrong})[1]


@each_row("name", FULL)
def test_null_never_erases_anything(name: str) -> None:
    assert f"turns.{name}" in read(**{name: None})[1]


@pytest.mark.parametrize("name", [name for name in FULL if name.endswith("phrases")])
def test_lists_hold_phrases_and_end_somewhere(name: str) -> None:
    assert read(**{name: ["done"] * LIST_LIMIT})[1] == {}
    assert f"turns.{name}" in read(**{name: ["done"] * (LIST_LIMIT + 1)})[1]
    assert f"turns.{name}" in read(**{name: "done"})[1]
    assert read(**{name: [5]})[1][f"turns.{name}.0"] == "must be a text"
    assert read(**{name: ["a", "."]})[1][f"turns.{name}.1"] == "holds no word"


@each_row(
    ("section", "path", "why"),
    [
        ({"treshold": 1}, "treshold", "unknown key"),
        ({"warn_from": 61}, "warn_from", "more than threshold, which is 60"),
        ({"threshold": 39}, "warn_from", "more than threshold, which is 39"),
        ({"nudge": ""}, "nudge", "1 to 2000"),
        ({"nudge": " "}, "nudge", "blank"),
        ({"nudge": "n" * 2001}, "nudge", "1 to 2000"),
        ({"nudge": ["Go"]}, "nudge", "must be a text"),
        ({"models": []}, "models", "must be an object"),
        ({"models": {"m": 1}}, "models.m", "must be an object"),
        ({"models": {"m*x": {}}}, "models.m*x", "only stand at the end"),
        ({"models": {"**": {}}}, "models.**", "only stand at the end"),
        ({"models": {"": {}}}, "models.", "empty"),
        ({"models": {"m": {"models": {}}}}, "models.m.models", "unknown key"),
        ({"models": {"m": {"threshold": 0}}}, "models.m.threshold", "from 1 to 101"),
        ({"models": {"m": {"warn_from": 61}}}, "models.m.warn_from", "is 60"),
        (
            {"models": {"m": {"intent_phrases": ["x", "."]}}},
            "models.m.intent_phrases.1",
            "no word",
        ),
    ],
)
def test_what_is_wrong_is_named(section: dict[str, Any], path: str, why: str) -> None:
    problems = read(**section)[1]
    assert list(problems) == [f"turns.{path}"]
    assert why in problems[f"turns.{path}"]
