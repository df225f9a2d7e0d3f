"""What a run remembers of its turns, and what it makes of them."""

from __future__ import annotations

import json

from guidance.core.turns.memory import TURNS_KEPT, TurnMemory
from tests.guidance.core.turns.builders import make_turn
from tests.support.rows import each_row


def remember(*contents: str, calls: int = 0) -> TurnMemory:
    memory = TurnMemory()
    for content in contents:
        turn = make_turn(content, tool_calls=calls)
        memory = memory.remember_turn(turn, action="in_progress" if calls else "warn")
    return memory


def test_the_counter_moves_with_the_actions() -> None:
    memory = TurnMemory()
    counted = []
    for action in (
        *("auto_continue", "in_progress", "auto_continue", "warn", "needs_human"),
        *("auto_continue", "finish", "auto_continue"),
    ):
        memory = memory.remember_turn(make_turn("x"), action=action)
        counted.append(memory.retries)
    assert counted == [1, 1, 2, 2, 2, 3, 0, 1]
    assert memory.clear_after_answer().retries == 0


def test_todos_left_open_on_purpose_are_reminded_of_once() -> None:
    some, none = make_turn("x", pending_todos=2), make_turn("x")
    memory = TurnMemory().remember_turn(some, action="auto_continue")
    memory = memory.remember_turn(some, action="finish")
    assert memory.reminded_todos == 2
    assert memory.remember_turn(none, action="finish").reminded_todos == 0


def test_the_share_of_turns_with_calls() -> None:
    memory = TurnMemory()
    shares = []
    for calls in (2, 0, 1, 1):
        memory = memory.remember_turn(make_turn(tool_calls=calls), action="warn")
        shares.append(memory.tool_ratio)
    assert TurnMemory().tool_ratio == 0.0
    assert shares == [1.0, 0.5, 2 / 3, 0.75]


def test_only_the_last_turns_are_kept() -> None:
    memory = remember(*map(str, range(TURNS_KEPT)), calls=1)
    assert memory.tool_ratio == 1.0
    for number in range(TURNS_KEPT):
        memory = memory.remember_turn(make_turn(f"n{number}"), action="warn")
    assert (len(memory.turns), memory.segment) == (TURNS_KEPT, TURNS_KEPT)
    assert memory.tool_ratio == 0.0


def test_the_same_words_three_times_are_a_repetition() -> None:
    assert remember("I go on.", "I go on.").count_repetition(times=3) == 0
    assert remember(*["I go on."] * 3).count_repetition(times=3) == 1
    assert (
        remember("I go on.", " i GO\non. ", "I go on.").count_repetition(times=3) == 1
    )
    assert remember(*["a", "b"] * 3).count_repetition(times=3) == 2
    assert remember(*["I go on."] * 3, "Else.").count_repetition(times=3) == 0


def test_nothing_at_all_three_times_is_one_too() -> None:
    assert remember("", "", "").count_repetition(times=3) == 1


def test_the_same_words_before_other_calls_are_none() -> None:
    memory = TurnMemory()
    for tools in ("read a", "read b", "read c"):
        turn = make_turn("Next file.", tool_calls=1)
        memory = memory.remember_turn(turn, action="in_progress", tools=tools)
    assert memory.count_repetition(times=3) == 0


def test_the_same_calls_after_other_words_are_one() -> None:
    memory = TurnMemory()
    for content in ("First.", "Again.", "Once more."):
        turn = make_turn(content, tool_calls=1)
        memory = memory.remember_turn(turn, action="in_progress", tools="read a")
    assert memory.count_repetition(times=3) == 1


def test_calls_nobody_knows_can_be_compared_with_nothing() -> None:
    assert TurnMemory().count_repetition(times=3) is None
    assert remember("", "", "", calls=1).count_repetition(times=3) is None


def test_an_answer_of_a_person_begins_anew() -> None:
    memory = remember(*["I go on."] * 3).clear_after_answer()
    assert memory.count_repetition(times=3) is None
    memory = memory.remember_turn(make_turn("I go on."), action="warn")
    assert memory.count_repetition(times=3) == 0
    assert len(memory.turns) == 4


def test_long_signatures_are_compared_in_full() -> None:
    same, other = TurnMemory(), TurnMemory()
    for number in range(3):
        turn = make_turn(f"n{number}", tool_calls=1)
        same = same.remember_turn(turn, action="in_progress", tools="x" * 500)
        other = other.remember_turn(
            turn, action="in_progress", tools="x" * 500 + str(number)
        )
    assert (same.count_repetition(times=3), other.count_repetition(times=3)) == (1, 0)


@each_row("content", ["", "Now let me go on.", "\ud800", "é" * 100_000])
def test_a_memory_is_small_and_the_same_after_storage(content: str) -> None:
    memory = TurnMemory()
    for number in range(TURNS_KEPT + 5):
        turn = make_turn(content, tool_calls=number % 2, pending_todos=1)
        memory = memory.remember_turn(turn, action="auto_continue", tools="t" * 10_000)
    stored = json.dumps(memory.to_json())
    assert TurnMemory.from_json(json.loads(stored)) == memory
    assert len(stored) < 4_096
    assert memory.reminded_todos == 1
