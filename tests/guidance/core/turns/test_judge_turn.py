"""What comes before the score, what the score decides, and what is told with it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from guidance.core.runs.facts import FactError
from guidance.core.turns import judge_turn
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import ACTIONS, TurnSignals
from tests.guidance.core.turns.builders import RULES, judge, keenly, rules
from tests.support.rows import each_row

CONTINUE = "Let me continue with the next step."


@each_row(
    ("finish_reason", "points"),
    [("tool_calls", 30), (None, 15), ("stop", 0), ("length", 0), ("content_filter", 0)],
)
def test_the_finish_reason_counts(finish_reason: str | None, points: int) -> None:
    assert judge(finish_reason=finish_reason).signals.finish_reason == points


@pytest.mark.parametrize(
    ("event", "points"), [("tool_result", 25), ("assistant", 0), ("user", 0)]
)
def test_the_last_event_counts(event: str, points: int) -> None:
    assert judge(last_event=event).signals.last_event == points


@each_row(("ratio", "points"), [(0.0, 0), (0.5, 0), (0.51, 10), (1.0, 10)])
def test_more_than_half_of_the_turns_have_to_call_tools(
    ratio: float, points: int
) -> None:
    assert judge(recent_tool_ratio=ratio).signals.tool_ratio == points


@each_row(
    ("threshold", "warn_from", "action"),
    [
        (70, 40, "auto_continue"),
        (71, 40, "warn"),
        (71, 70, "warn"),
        (72, 71, "finish"),
        (101, 101, "finish"),
    ],
)
def test_a_score_reaches_its_limit(threshold: int, warn_from: int, action: str) -> None:
    by = rules(threshold=threshold, warn_from=warn_from)
    assert (judge(CONTINUE, by=by).score, judge(CONTINUE, by=by).action) == (
        70,
        action,
    )


def test_a_model_has_its_own_limits_and_phrases() -> None:
    by = rules(models={"mini*": {"threshold": 80, "intent_phrases": ["onwards"]}})
    assert judge(CONTINUE, by=by.get_for_model("other")).action == "auto_continue"
    assert judge(CONTINUE, by=by.get_for_model("mini")).score == 45
    assert judge("Onwards!", by=by.get_for_model("mini")).action == "warn"


def test_only_who_is_sent_on_gets_a_nudge() -> None:
    assert judge(CONTINUE).nudge == RULES.nudge
    for verdict in (
        judge(tool_calls=1),
        judge("Shall I?"),
        judge("I'm done."),
        judge(CONTINUE, finish_reason="length"),
        judge(CONTINUE, retries_used=3),
        judge("Let me continue. Let me know if I can help."),
    ):
        assert verdict.nudge is None


def test_calls_that_are_present_are_not_counted() -> None:
    verdict = keenly("Shall I drop it? I'm done.", tool_calls=1)
    assert (verdict.action, verdict.signals) == ("in_progress", TurnSignals())


def test_after_the_last_retry_a_person_looks() -> None:
    for used in (0, 1, 2):
        assert judge(CONTINUE, retries_used=used).action == "auto_continue"
    for used in (3, 4):
        verdict = judge(CONTINUE, retries_used=used)
        assert (verdict.action, verdict.question) == ("needs_human", None)
    assert "three times in a row already" in judge(CONTINUE, retries_used=3).reason
    once = rules(max_retries=1)
    assert "on once in a row" in judge(CONTINUE, by=once, retries_used=1).reason


def test_no_retries_at_all_asks_every_time() -> None:
    verdict = judge(CONTINUE, by=rules(max_retries=0))
    assert verdict.action == "needs_human"
    assert "sends nothing on" in verdict.reason


def test_a_finished_turn_needs_no_person_however_often_it_was_sent_on() -> None:
    assert judge("I'm done.", retries_used=9).action == "finish"


@pytest.mark.parametrize(
    ("content", "overrides"),
    [
        ("I'm done.", {}),
        ("It prints 42.", {"last_event": "user"}),
        ("It prints 42.", {}),
    ],
)
def test_open_todos_send_a_turn_on_once(
    content: str, overrides: dict[str, Any]
) -> None:
    verdict = judge(content, pending_todos=2, **overrides)
    assert verdict.action == "auto_continue"
    assert verdict.reason == "Stopped with two todos open"
    assert verdict.nudge == f"{RULES.nudge} Two todos are still open."
    again = judge(content, pending_todos=2, reminded_todos=2, **overrides)
    assert again.action == judge(content, **overrides).action != "auto_continue"
    fewer = judge(content, pending_todos=1, reminded_todos=2, **overrides)
    assert (fewer.action, fewer.reason) == (
        "auto_continue",
        "Stopped with one todo open",
    )
    assert judge(content, pending_todos=2, retries_used=3).action == "needs_human"


def test_open_todos_answer_no_question_and_lift_no_filter() -> None:
    assert judge("Shall I?", pending_todos=2).action == "needs_human"
    assert judge("So", finish_reason="length", pending_todos=2).action == "warn"
    assert judge("", finish_reason="content_filter", pending_todos=2).action == "warn"


def test_a_turn_that_goes_on_hears_of_its_todos_too() -> None:
    nudge = judge(CONTINUE, pending_todos=1, reminded_todos=1).nudge
    assert nudge == f"{RULES.nudge} One todo is still open."


@pytest.mark.parametrize("finish_reason", ["length", "content_filter"])
def test_a_question_that_was_cut_is_a_question(finish_reason: str) -> None:
    assert judge("Shall I?", finish_reason=finish_reason).action == "needs_human"
    assert judge("I'm done.", finish_reason=finish_reason).action == "warn"


def test_trouble_goes_to_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(content: str) -> None:
        raise RecursionError

    monkeypatch.setattr(judge_turn, "split_sentences", broken)
    verdict = judge("I'm done.")
    assert verdict.action == "needs_human"
    assert verdict.reason == "The turn could not be judged (RecursionError)"


def test_a_verdict_is_told_in_full() -> None:
    assert judge("Shall I?").to_json() == {
        "action": "needs_human",
        "score": 45,
        "signals": {
            "finish_reason": 0,
            "last_event": 25,
            "content_intent": 0,
            "no_summary": 10,
            "tool_ratio": 10,
        },
        "nudge": None,
        "question": "Shall I?",
        "reason": "The turn asks a person",
    }
    assert judge("Shall I?").action in ACTIONS


@each_row(
    ("field", "value"),
    [
        ("finish_reason", "end_turn"),
        ("finish_reason", ""),
        ("last_event", "tool"),
        ("tool_calls", -1),
        ("pending_todos", -1),
        ("retries_used", -1),
        ("reminded_todos", -1),
        ("recent_tool_ratio", -0.01),
        ("recent_tool_ratio", 1.01),
        ("recent_tool_ratio", math.nan),
    ],
)
def test_facts_that_cannot_be_are_refused(field: str, value: Any) -> None:
    with pytest.raises(FactError) as refused:
        TurnFacts(**{field: value})
    assert refused.value.field == field
