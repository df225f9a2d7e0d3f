"""The order of severity, and words outside it."""

from __future__ import annotations

from itertools import permutations

import pytest

from guidance.core.vocabulary import (
    CALL_DECISIONS,
    CALL_WEIGHTS,
    STEP_DECISIONS,
    choose_most_severe,
)
from tests.support.rows import each_row


def test_every_worse_decision_wins_over_every_milder_one() -> None:
    for pair in permutations(STEP_DECISIONS, 2):
        assert choose_most_severe(pair) == min(pair, key=STEP_DECISIONS.index)


def test_the_order_of_findings_does_not_matter() -> None:
    for order in permutations(STEP_DECISIONS):
        assert choose_most_severe(order) == "stop"


def test_nothing_found_continues() -> None:
    assert choose_most_severe([]) == "continue"


@each_row("word", ["allow", "", "STOP", "deny"])
def test_an_unknown_word_is_an_error_and_never_lets_through(word: str) -> None:
    """EG-42 R."""
    with pytest.raises(ValueError, match="unknown step decision"):
        choose_most_severe(["continue", word])


def test_each_call_decision_has_a_weight_and_worse_ones_weigh_more() -> None:
    weights = [CALL_WEIGHTS[decision] for decision in CALL_DECISIONS]
    assert weights == [1.0, 0.5, 0.25, 0.0]
    assert set(CALL_WEIGHTS) == set(CALL_DECISIONS)
