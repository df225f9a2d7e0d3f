"""Counting what a backtest found: each change once, by gate, rule, move and run."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.policy import load_policy
from ledger.backtest.judges import (
    BothJudgements,
    DecisionKind,
    JudgedAgain,
    Judgement,
    PolicyPair,
    Unknown,
)
from ledger.backtest.tally import Tally, find_cause
from tests.support.run_states import AT

KIND = DecisionKind(
    name="call", decisions=("block", "ask", "allow"), asking=frozenset({"ask"})
)
STEP = DecisionKind(name="step", decisions=("stop", "go"), asking=frozenset())


def judge(decision: str, *gates: tuple[str, str, str | None]) -> Judgement:
    findings = [
        {"gate": gate, "decision": said, "details": {"rule": rule} if rule else {}}
        for gate, said, rule in gates
    ]
    return {"decision": decision, "findings": findings}


def item(
    before: Judgement, after: Judgement, *, run: int = 1, kind: DecisionKind = KIND
) -> JudgedAgain:
    return JudgedAgain(
        kind=kind,
        run_id=run,
        seq=1,
        at=AT,
        review=None,
        outcome=BothJudgements(before, after),
    )


ALLOWED = judge("allow")
ASKED = judge("ask", ("style", "allow", "quiet"), ("shell", "ask", "delete"))
BLOCKED = judge("block", ("shell", "ask", "delete"), ("secrets", "block", None))


def test_every_decision_is_counted_where_it_belongs() -> None:
    tally = Tally()
    unknown = item(ALLOWED, ALLOWED)
    object.__setattr__(unknown, "outcome", Unknown("not kept"))
    other_gate = judge("ask", ("caps", "ask", None))
    items = [
        item(judge("go"), judge("stop"), run=5, kind=STEP),
        item(ALLOWED, ASKED, run=1),
        item(ASKED, ALLOWED, run=1),
        item(ALLOWED, ASKED, run=2),
        item(ASKED, BLOCKED, run=2),
        item(BLOCKED, ASKED, run=3),
        item(ASKED, ASKED, run=4),
        item(ASKED, dict(ASKED), run=4),
        item(ASKED, other_gate, run=4),
        unknown,
    ]

    changed = [tally.add(each) for each in items]

    assert changed == [True] * 6 + [False] * 4
    found = tally.to_json()
    assert list(found["decisions"]) == ["call", "step"]
    assert list(found["by_gate"]) == ["shell", "secrets", "step"]
    assert found == {
        "judged": 9,
        "changed": 6,
        "unknown": 1,
        "unknown_reasons": {"not kept": 1},
        "other_reasons": 1,
        "runs_changed": 4,
        "by_gate": {"shell": 3, "secrets": 2, "step": 1},
        "by_rule": [
            {"gate": "shell", "rule": "delete", "softer": 1, "stricter": 2},
            {"gate": "secrets", "rule": None, "softer": 1, "stricter": 1},
            {"gate": "step", "rule": None, "softer": 0, "stricter": 1},
        ],
        "moves": {
            "allow→ask": 2,
            "ask→allow": 1,
            "ask→block": 1,
            "block→ask": 1,
            "go→stop": 1,
        },
        "decisions": {
            "call": {
                "ask→ask": 3,
                "allow→ask": 2,
                "ask→allow": 1,
                "ask→block": 1,
                "block→ask": 1,
            },
            "step": {"go→stop": 1},
        },
        "would_have_asked": 3,
        "would_not_have_asked": 2,
    }


def test_who_is_asked_otherwise_was_asked_all_the_same() -> None:
    kind = DecisionKind(
        name="step",
        decisions=("stop", "pause", "ask"),
        asking=frozenset(("pause", "ask")),
    )
    tally = Tally()
    for before, after in (("pause", "ask"), ("ask", "pause"), ("stop", "ask")):
        assert tally.add(item(judge(before), judge(after), kind=kind))
    assert (tally.would_have_asked, tally.would_not_have_asked) == (1, 0)


def test_the_cause_is_what_led_to_the_stricter_of_the_two() -> None:
    assert find_cause(item(ALLOWED, ASKED)) == ("shell", "delete")
    assert find_cause(item(ASKED, ALLOWED)) == ("shell", "delete")
    assert find_cause(item(ASKED, BLOCKED)) == ("secrets", "")
    assert find_cause(item(BLOCKED, ALLOWED)) == ("secrets", "")
    assert find_cause(item(ALLOWED, judge("block"))) == ("call", "")


def test_a_decision_is_stricter_than_those_behind_it() -> None:
    assert KIND.is_stricter("allow", "ask")
    assert KIND.is_stricter("ask", "block")
    assert not KIND.is_stricter("ask", "ask")
    assert not KIND.is_stricter("block", "ask")


@pytest.mark.parametrize(
    ("draft", "differs"),
    [
        ({}, set()),
        ({"continue": {"max_uncertainty": 0.2}}, {"steps"}),
        ({"tools": {"max_diff_lines": 7}}, {"calls"}),
        ({"turns": {"threshold": 99}}, {"turns"}),
        ({"budget": {"tokens": 7}}, {"steps", "calls"}),
        ({"caps": {"open_reviews": {"agent": 7}}}, {"steps", "calls"}),
        ({"caps": {"open_runs": {"agent": 7}}}, set()),
        ({"reviews": {"severity": {"rules": {"delete-*": "critical"}}}}, {"calls"}),
        ({"four_eyes": {"rules": ["git-push-force"]}}, {"calls"}),
        ({"reviews": {"allowances": {"max_steps": 7}}}, {"steps"}),
    ],
)
def test_what_a_draft_does_not_touch_need_not_be_judged_again(
    draft: dict[str, Any], differs: set[str]
) -> None:
    pair = PolicyPair(own=load_policy({}), draft=load_policy(draft))
    same = {
        "steps": pair.same_for_steps,
        "calls": pair.same_for_calls,
        "turns": pair.same_for_turns,
    }
    assert {name for name, each in same.items() if not each} == differs
