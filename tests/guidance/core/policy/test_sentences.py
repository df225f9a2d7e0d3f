"""What a policy does, in sentences: every setting, with its unit and its default."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from guidance.core.policy.differences import list_differences
from guidance.core.policy.effects import describe_effect
from guidance.core.policy.schema import POLICY_SCHEMA
from guidance.core.policy.sentence_texts import SENTENCES
from guidance.core.policy.sentences import (
    SETTINGS,
    Value,
    count_own_settings,
    describe_policy,
)

SHIPPED = yaml.safe_load(Path("guidance/policies/default.yaml").read_text())


def say(document: Mapping[str, object]) -> str:
    return "\n".join(
        str(each) for subject in describe_policy(document) for each in subject.sentences
    )


def find_values(
    document: Mapping[str, object], before: Mapping[str, object] | None = None
) -> dict[str, Value]:
    return {
        value.path: value
        for subject in describe_policy(document, before)
        for sentence in subject.sentences
        for value in sentence.values
    }


def test_every_setting_stands_in_one_sentence_and_no_other_is_named() -> None:
    said = [
        value.path
        for subject in describe_policy({})
        for sentence in subject.sentences
        for value in sentence.values
    ]
    assert sorted(said) == sorted(SETTINGS)
    sections = {path.partition(".")[0] for path in SETTINGS} | {"gates"}
    assert sections == set(POLICY_SCHEMA["properties"])
    named = re.findall(r"\{([^{}|]+)", " ".join(sum(SENTENCES.values(), ())))
    assert set(named) <= set(SETTINGS)


def test_the_policy_that_is_shipped_reads_as_people_speak() -> None:
    said = say(SHIPPED)
    assert (
        "Pauses when more than 30 % of the last 20 steps redo earlier work, judged from "
        "5 steps on." in said
    )
    assert "A run may use 1,000,000 tokens, 10,000 calls, 1 h and $10.00." in said
    assert (
        "Its agent may ask for 1,000,000 tokens, 10,000 calls, 1 h and $10.00 at most."
        in said
    )
    assert "All tools may be called. On the allowlist: none." in said
    assert "Ends of runs wake it, rulings wake it." in said
    assert count_own_settings(SHIPPED) == count_own_settings({}) == 0


def test_what_is_left_out_has_its_default_and_what_is_set_is_marked() -> None:
    values = find_values(
        {"continue": {"max_rework_ratio": 0.25}, "loop": {"rules": []}}
    )
    rework = values["continue.max_rework_ratio"]
    assert (rework.text, rework.default, rework.differs) == ("25 %", "30 %", True)
    window = values["continue.rework_window"]
    assert (window.text, window.default, window.differs) == ("20 steps",) * 2 + (False,)
    assert (values["loop.rules"].text, values["loop.rules"].differs) == ("none", True)
    assert find_values({})["loop.rules"].text == "as built in"
    assert find_values({})["tools.patterns"].text == "none"
    assert find_values({"tools": {"confirm": ["Bash"]}})["tools.confirm"].about == (
        "tools.confirm, default none: Bash"
    )
    assert count_own_settings({"budget": {"tokens": None, "cost_usd": "10.00"}}) == 1


def test_no_limit_is_said_in_words() -> None:
    values = find_values(
        {
            "budget": {"tokens": None, "tool_calls": None, "time_ms": None},
            "caps": {"open_runs": {"agent": None}},
            "tools": {"allowlist": {"enabled": True}},
        }
    )
    assert values["budget.tokens"].text == "any tokens"
    assert values["budget.tool_calls"].text == "any number of calls"
    assert values["budget.time_ms"].text == "any time"
    assert values["caps.open_runs.agent"].text == "any number of"
    assert values["tools.allowlist.enabled"].text == "Only tools on the allowlist"


def test_a_value_says_what_it_was_before() -> None:
    before = {"continue": {"repeat_limit": 4}}
    values = find_values({"turns": {"threshold": 70}}, before)
    changed = {path: each.before for path, each in values.items() if each.before}
    assert changed == {"continue.repeat_limit": "4 times", "turns.threshold": "60"}
    assert {each.before for each in find_values({}).values()} == {None}


@pytest.mark.parametrize(
    ("before", "after", "words", "decision"),
    [
        ({}, {"continue": {"max_rework_ratio": 0.2}}, "Pauses sooner", "pause"),
        ({}, {"continue": {"max_rework_ratio": 0.4}}, "Pauses later", "continue"),
        ({}, {"continue": {"min_coherence": 0.5}}, "Stops sooner", "stop"),
        ({}, {"continue": {"min_coherence": 0.3}}, "Stops later", "continue"),
        ({}, {"budget": {"cost_usd": "5.00"}}, "Stops sooner", "stop"),
        ({}, {"budget": {"cost_usd": None}}, "Stops later", "continue"),
        ({"budget": {"tokens": None}}, {}, "Stops sooner", "stop"),
        ({}, {"continue": {"max_budget_slope": 0.01}}, "Slows down sooner", "throttle"),
        ({}, {"tools": {"confirm": ["Bash"]}}, "Asks more", "pause"),
        ({}, {"tools": {"rules": {"delete-folder": "warn"}}}, "Asks less", "continue"),
        ({}, {"tools": {"rules": {"delete-folder": "block"}}}, "Blocks", "stop"),
        ({"tools": {"rules": {"delete-folder": "warn"}}}, {}, "Asks more", "pause"),
        ({}, {"tools": {"rules": {"git-*": "warn"}}}, "Asks less", "continue"),
        ({}, {"tools": {"rules": {"own": "warn"}}}, "Changed", ""),
        ({}, {"turns": {"max_retries": 4}}, "Added", ""),
        ({"turns": {"max_retries": 4}}, {}, "Removed", ""),
    ],
)
def test_which_way_a_change_goes(
    before: Mapping[str, object], after: Mapping[str, object], words: str, decision: str
) -> None:
    (difference,) = list_differences(before, after)
    assert describe_effect(difference) == (words, decision)
