"""The repetition gate."""

from __future__ import annotations

import pytest

from tests.guidance.core.builders import get_message, list_gates, make_policy, walk
from tests.support.rows import each_row


def pattern(text: str) -> list[dict[str, str | None]]:
    """One step a letter, `-` for a step without a signature."""
    return [{"signature": None if letter == "-" else letter} for letter in text]


def is_repetition(text: str, **limits: int) -> bool:
    """Whether the last of these steps, and none before it, is a repetition."""
    verdicts = walk(pattern(text), policy=make_policy(**limits))
    assert not any("repetition" in list_gates(verdict) for verdict in verdicts[:-1])
    return "repetition" in list_gates(verdicts[-1])


@each_row(
    "text",
    ["aaa", "xyaaa", "ababab", "xababab", "abcabcabc", "abcdabcdabcd", "aabaabaab"],
)
def test_three_whole_times_pause(text: str) -> None:
    assert is_repetition(text)


@each_row(
    "text",
    [
        "aa",
        "aabaa",
        "abcde",
        "ababa",
        "abcabcab",
        "abcabca",
        "abcdabcdabc",
        pytest.param("abcdeabcdeabcde", id="a-cycle-of-five-is-not-looked-for"),
        pytest.param("---", id="no-signature-is-no-repetition"),
        pytest.param("aa-a", id="interrupted-by-an-unknown-step"),
        pytest.param("a-a-a-", id="cycle-with-an-unknown-step"),
        pytest.param("-a-a-a", id="cycle-with-an-unknown-step-before"),
    ],
)
def test_less_than_three_whole_times_do_not(text: str) -> None:
    assert not is_repetition(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aaa", "The same step three times in a row"),
        ("ababab", "The same two steps three times in a row"),
        ("abcdabcdabcd", "The same four steps three times in a row"),
    ],
)
def test_the_message_tells_what_repeats(text: str, message: str) -> None:
    verdict = walk(pattern(text))[-1]
    assert verdict.decision == "pause"
    assert get_message(verdict, "repetition") == message


def test_how_often_is_the_policys() -> None:
    assert is_repetition("aa", repeat_limit=2)
    assert not is_repetition("aaaa", repeat_limit=5)
    assert is_repetition("aaaaa", repeat_limit=5)
    assert is_repetition("abcd" * 25, repeat_limit=25, checkpoint_interval_steps=100)


def test_a_step_without_a_signature_is_not_evaluated() -> None:
    first, second = walk(pattern("a-"))
    assert "repetition" not in first.metrics.not_evaluated
    assert "repetition" in second.metrics.not_evaluated


def test_long_signatures_are_compared_in_full() -> None:
    same = [{"signature": "x" * 500}] * 3
    other = [{"signature": "x" * 500 + str(n)} for n in range(3)]
    assert "repetition" in list_gates(walk(same)[-1])
    assert "repetition" not in list_gates(walk(other)[-1])


def test_an_approved_pause_begins_anew() -> None:
    memory = walk(pattern("aaa"))[-1].memory.start_segment()
    again = walk(pattern("aaa"), memory=memory)
    assert [verdict.decision for verdict in again] == ["continue", "continue", "pause"]


def test_an_approved_pause_begins_anew_for_the_computed_score_too() -> None:
    memory = walk(pattern("bcaaa"))[-1].memory.start_segment()
    verdict = walk(pattern("a"), memory=memory)[-1]
    assert (verdict.decision, verdict.metrics.uncertainty) == ("continue", None)
