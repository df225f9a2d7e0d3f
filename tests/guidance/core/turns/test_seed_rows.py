"""The scenario rows by number, and the first table of scores row by row."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.turns.memory import TurnMemory
from tests.guidance.core.turns.builders import RULES, judge, make_turn
from tests.support.rows import each_row

CONTINUE = "Let me continue with the next step."
DONE = "The implementation is complete. To summarize, I fixed the bug by hand."
CLOSING = "Let me know if you'd like me to make any changes."
FIXED = "The bug is fixed. All changes have been made successfully."


def row(number: str, content: str, action: str, score: int, **facts: Any) -> Any:
    return pytest.param(content, facts, action, score, id=number)


@each_row(
    ("content", "facts", "action", "score"),
    [
        row("AC-01", CONTINUE, "auto_continue", 70),
        row("AC-02", "", "auto_continue", 75, finish_reason="tool_calls"),
        row(
            "AC-03",
            "Now I need to fix the imports.",
            "auto_continue",
            85,
            finish_reason=None,
            recent_tool_ratio=0.6,
        ),
        row("AC-04", DONE, "finish", 25, recent_tool_ratio=0.5),
        row(
            "AC-05", CLOSING, "finish", 0, last_event="assistant", recent_tool_ratio=0.3
        ),
        row("AC-06", FIXED, "finish", 45, recent_tool_ratio=0.6),
        row("AC-07", "", "finish", 35, recent_tool_ratio=0.5),
        row(
            "AC-08",
            "Let me continue with the implementation.",
            "finish",
            35,
            last_event="assistant",
            recent_tool_ratio=0.2,
        ),
        row("AC-09", "Shall I proceed with dropping the table?", "needs_human", 70),
        row("AC-10", CONTINUE, "in_progress", 0, tool_calls=1),
        row("AC-11-length", CONTINUE, "warn", 70, finish_reason="length"),
        row("AC-11-filter", CONTINUE, "warn", 70, finish_reason="content_filter"),
        row("AC-12-apostrophe", "I’m done. Now let me rest.", "finish", 45),
        row(
            "AC-12-negation",
            "Not all files have been updated, I still need to fix two.",
            "auto_continue",
            70,
        ),
        row("AL-01", "It prints 42.", "finish", 20, last_event="user"),
        row("AL-02", "It prints 42.", "in_progress", 0, tool_calls=2),
        row("AL-05", "", "warn", 45, finish_reason="content_filter"),
        row("AL-05-partial", CONTINUE, "warn", 70, finish_reason="content_filter"),
        row("AL-06", "", "finish", 20, last_event="user"),
    ],
)
def test_a_row_of_turns(
    content: str, facts: dict[str, Any], action: str, score: int
) -> None:
    verdict = judge(content, **facts)
    assert (verdict.action, verdict.score) == (action, score)


@each_row(
    ("content", "facts", "points", "action"),
    [
        pytest.param(CONTINUE, {}, (0, 25, 25, 10, 10), "auto_continue", id="70"),
        pytest.param(
            "",
            {"finish_reason": "tool_calls"},
            (30, 25, 0, 10, 10),
            "auto_continue",
            id="75",
        ),
        pytest.param(
            CONTINUE,
            {"finish_reason": None},
            (15, 25, 25, 10, 10),
            "auto_continue",
            id="85",
        ),
        pytest.param(
            "task is complete, summarize", {}, (0, 25, 0, 0, 10), "finish", id="35-done"
        ),
        pytest.param(
            "please review my changes",
            {"last_event": "assistant"},
            (0, 0, 0, 0, 10),
            "finish",
            id="10",
        ),
        pytest.param(
            "I'll continue",
            {"last_event": "user", "recent_tool_ratio": 0.0},
            (0, 0, 25, 10, 0),
            "finish",
            id="35-no-tools",
        ),
    ],
)
def test_the_first_table_comes_out(
    content: str, facts: dict[str, Any], points: tuple[int, ...], action: str
) -> None:
    verdict = judge(content, **facts)
    assert tuple(verdict.signals.to_json().values()) == points
    assert (verdict.score, verdict.action) == (sum(points), action)


def run(turns: list[dict[str, Any]]) -> tuple[list[str], TurnMemory]:
    """Judge turn after turn, each with what the run remembers by then."""
    memory = TurnMemory()
    actions = []
    for turn in turns:
        facts = {
            **turn,
            "retries_used": memory.retries,
            "reminded_todos": memory.reminded_todos,
        }
        verdict = judge(**facts)
        actions.append(verdict.action)
        memory = memory.remember_turn(make_turn(**facts), action=verdict.action)
    return actions, memory


def test_no_reason_twice_and_then_a_stop_makes_three_turns() -> None:
    """AL-03."""
    actions, memory = run(
        [{"finish_reason": None}, {"finish_reason": None}, {"content": "All done."}]
    )
    assert actions == ["auto_continue", "auto_continue", "finish"]
    assert memory.retries == 0


def test_four_empty_answers_are_sent_on_three_times() -> None:
    """AL-04."""
    actions, memory = run([{"finish_reason": None}] * 4)
    assert actions == ["auto_continue"] * RULES.max_retries + ["needs_human"]
    assert memory.retries == 3


def test_open_todos_are_reminded_of_once_for_each_number() -> None:
    """AL-07."""
    stop = {"content": "The task is complete."}
    two, one = {**stop, "pending_todos": 2}, {**stop, "pending_todos": 1}
    actions, _ = run([two, two, one, one, stop, two])
    assert actions == [
        *("auto_continue", "finish", "auto_continue", "finish"),
        *("finish", "auto_continue"),
    ]


def tools(signs: str, *, times: int = 3) -> int | None:
    memory = TurnMemory()
    for sign in signs:
        turn = make_turn(tool_calls=1)
        memory = memory.remember_turn(turn, action="in_progress", tools=sign)
    return memory.count_repetition(times=times)


@each_row(
    ("signs", "length"),
    [
        pytest.param("111", 1, id="AL-08"),
        pytest.param("1", 0, id="AL-09-once"),
        pytest.param("11", 0, id="AL-09-twice"),
        pytest.param("123", 0, id="AL-10"),
        pytest.param("112", 0, id="AL-10-last"),
        pytest.param("123" * 3, 3, id="AL-11-three"),
        pytest.param("12" * 3, 2, id="AL-11-two"),
        pytest.param("1234" * 3, 4, id="AL-11-four"),
        pytest.param("12312", 0, id="AL-12"),
        pytest.param("1231231", 0, id="AL-12-partial"),
        pytest.param("12121", 0, id="AL-12-read-and-edit"),
        pytest.param("123123454545", 2, id="AL-13"),
        pytest.param("12345" * 3, 0, id="beyond-four"),
    ],
)
def test_a_row_of_repeated_calls(signs: str, length: int) -> None:
    assert tools(signs) == length


def test_how_often_is_given() -> None:
    """AL-14."""
    assert tools("11", times=2) == 1
    assert tools("1", times=2) == 0
